import { strict as assert } from "node:assert";
import * as pulumi from "@pulumi/pulumi";
import program from "../../index.js";
import { CloudError } from "../../cloud/cloud-error.js";
import type { CloudClient } from "../../cloud/client.js";
import type { Credential } from "../../cloud/credential.js";
import { requireServiceUser } from "../../components/identity/service-user.js";
import type { CloudFacts } from "../../components/support/catalog.js";
import { giveFacts } from "../../components/support/known-facts.js";
import { parseClusterSpec } from "../../components/spec/cluster-spec.js";
import { cloudAnswers } from "../support/cloud-answers.js";
import { startFakeCloud } from "../support/fake-openstack.js";
import { graph } from "../support/graph.js";
import { replace } from "../support/replace.js";
import { smallest } from "../support/spec.js";

type Signed = Pick<CloudClient, "roles" | "passwordEnd">;

const both = ["member", "load-balancer_member"];
const signedIn = (): Promise<Signed> => Promise.resolve({ roles: both, passwordEnd: undefined });
const refused = (): Promise<never> =>
  Promise.reject(new CloudError("unauthenticated", "refused", undefined, 401));
const supplied = { username: "shop", password: "CANARY" };

/** As whom somebody signed in, when a user was asked for. */
const required = async (
  signIn: () => Promise<Signed>,
  credential: object = supplied,
): Promise<readonly Credential[]> => {
  const result = parseClusterSpec({ ...smallest, credential });
  assert.ok("spec" in result, JSON.stringify(result));
  const tried: Credential[] = [];
  const operator = {
    connect: refused,
    connectWith: (one: Credential) => {
      tried.push(one);
      return signIn() as Promise<CloudClient>;
    },
  };
  const cloud = { scope: { projectId: "p", roles: both } } as unknown as CloudFacts;
  await graph(() => requireServiceUser(result.spec, cloud, operator, "Pulumi.dev.yaml"));
  return tried;
};

describe("the user as whom a cluster's controllers sign in", () => {
  it("is tried in the cluster's project", async () => {
    assert.deepEqual(await required(signedIn), [
      {
        ...{ kind: "password", username: "shop", userId: undefined, password: "CANARY" },
        userDomain: { name: "Default" },
        scope: { projectId: "p", projectDomain: { name: "Default" } },
      },
    ]);
  });

  it("is refused as what is written in the settings, without the password", async () => {
    await assert.rejects(required(refused), (error: Error) => {
      assert.match(
        error.message,
        /^\[INVALID_CONFIG\] Pulumi\.dev\.yaml is not valid:\n {2}cluster\.credential\.username: the user 'shop' of the domain 'Default' cannot sign in to project p: /,
      );
      assert.doesNotMatch(error.message, /CANARY/);
      return true;
    });
  });

  it("is taken with a warning where a role may be missing", async () => {
    const one = (): Promise<Signed> => signedIn().then((all) => ({ ...all, roles: ["member"] }));
    assert.equal((await required(one)).length, 1);
  });

  it("is not judged where the cloud cannot be asked", async () => {
    const lost = (): Promise<never> =>
      Promise.reject(new CloudError("unreachable", "There is no way."));
    await assert.rejects(required(lost), { message: "[CLOUD_UNREACHABLE] There is no way." });
  });

  it("is nobody where there is none, where the password comes later, and where all is as before", async () => {
    assert.deepEqual(await required(refused, {}), []);
    assert.deepEqual(await required(refused, { id: "an-id", secret: "CANARY" }), []);
    const later = { ...supplied, password: pulumi.secret("CANARY") };
    assert.deepEqual(await required(refused, later), []);
    giveFacts({ wanted: "", facts: {} as CloudFacts, asBefore: true });
    try {
      assert.deepEqual(await required(refused), []);
    } finally {
      giveFacts(undefined);
    }
  });

  it("is refused by the program before anything is made", async () => {
    const cloud = await startFakeCloud();
    cloud.on("POST /identity/v3/auth/tokens", { status: 401, body: {} });
    const env = replace(process, "env", { ...process.env, ...cloud.environment() });
    const made: string[] = [];
    const ids = (name: string): string => {
      made.push(name);
      return name;
    };
    const run = (): Promise<unknown> => {
      const settings = JSON.stringify({ ...smallest, credential: supplied });
      pulumi.runtime.setAllConfig({ "stackadm:cluster": settings }, ["stackadm:cluster"]);
      return program();
    };
    try {
      await assert.rejects(
        graph(run, { ...cloudAnswers, ids }),
        /Pulumi\.test\.yaml is not valid:\n {2}cluster\.credential\.username: .* project project-id/,
      );
      assert.deepEqual(made, ["stackadm-test"], "the stack itself");
    } finally {
      env();
      await cloud.close();
    }
  });
});
