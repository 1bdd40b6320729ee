import { strict as assert } from "node:assert";
import { EventEmitter, once } from "node:events";
import * as pulumi from "@pulumi/pulumi";
import program from "../../../index.js";
import { CloudError } from "../../../openstack/http/cloud-error.js";
import type { CloudClient } from "../../../openstack/client/cloud-client.js";
import type { Credential } from "../../../openstack/auth/credential.js";
import { requireServiceUser } from "../../../components/identity/check-service-user-login.js";
import type { CloudFacts } from "../../../components/lookup/cloud-lookup.js";
import { parseClusterSpec } from "../../../components/config/cluster-spec.js";
import { cloudAnswers } from "../../support/cloud/cloud-answers.js";
import { startFakeCloud } from "../../support/cloud/fake-openstack.js";
import { graph } from "../../support/graph/graph.js";
import { replace } from "../../support/replace-property.js";
import { smallest } from "../../support/config/spec.js";

type Signed = Pick<CloudClient, "roles" | "passwordEnd" | "projectId" | "userId" | "glance"> &
  Partial<Pick<CloudClient, "restricted">>;

const both = ["member", "load-balancer_member"];
const signedIn = (): Promise<Signed> =>
  Promise.resolve({
    roles: both,
    passwordEnd: undefined,
    projectId: "p",
    userId: "u",
    glance: () => Promise.reject(new CloudError("forbidden", "no", undefined, 403)),
  });
const refused = (): Promise<never> =>
  Promise.reject(new CloudError("unauthenticated", "refused", undefined, 401));
const supplied = { username: "shop", password: "CANARY" };
const application = { id: "5d6a", secret: "CANARY" };

const facts = { scope: { projectId: "p", roles: both } } as unknown as CloudFacts;

/**
 * Returns the credentials with which the program authenticated, for a cluster that requires a user.
 */
const required = async (
  signIn: () => Promise<Signed>,
  credential: object = supplied,
  cloud: CloudFacts | Promise<CloudFacts> = facts,
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
  await graph(() => requireServiceUser(result.spec, cloud, operator, "Pulumi.dev.yaml"));
  return tried;
};

describe("the supplied user of a cluster's controllers", () => {
  it("is tested by a login to the cluster's project", async () => {
    assert.deepEqual(await required(signedIn), [
      {
        kind: "password",
        username: "shop",
        userId: undefined,
        password: "CANARY",
        userDomain: { name: "Default" },
        scope: { projectId: "p", projectDomain: { name: "Default" } },
      },
    ]);
  });

  it("is refused with the path of the setting and without the password", async () => {
    await assert.rejects(required(refused), (error: Error) => {
      assert.match(
        error.message,
        /^\[INVALID_CONFIG\] Pulumi\.dev\.yaml is not valid:\n {2}cluster\.credential\.username: the user 'shop' of the domain 'Default' cannot sign in to project p: /,
      );
      assert.doesNotMatch(error.message, /CANARY/);
      return true;
    });
  });

  it("is accepted if a role may be missing", async () => {
    const one = (): Promise<Signed> => signedIn().then((all) => ({ ...all, roles: ["member"] }));
    assert.equal((await required(one)).length, 1);
  });

  it("causes CLOUD_UNREACHABLE if the cloud does not answer", async () => {
    const lost = (): Promise<never> =>
      Promise.reject(new CloudError("unreachable", "There is no way."));
    await assert.rejects(required(lost), { message: "[CLOUD_UNREACHABLE] There is no way." });
  });

  it("is not tested without a credential or with a secret that is an output", async () => {
    assert.deepEqual(await required(refused, {}), []);
    for (const later of [
      { ...supplied, password: pulumi.secret("CANARY") },
      { ...application, secret: pulumi.secret("CANARY") },
    ])
      assert.deepEqual(await required(refused, later), []);
  });

  for (const [what, credential, path] of [
    ["a user", supplied, "credential.username: .* project project-id"],
    ["an application credential", application, "credential.id: the .* 5d6a cannot sign in"],
  ] as const)
    it(`is refused by the program before any create: ${what}`, async () => {
      const cloud = await startFakeCloud();
      cloud.on("POST /identity/v3/auth/tokens", { status: 401, body: {} });
      const env = replace(process, "env", { ...process.env, ...cloud.environment() });
      const made: string[] = [];
      const ids = (name: string): string => {
        made.push(name);
        return name;
      };
      const run = (): Promise<unknown> => {
        const settings = JSON.stringify({ ...smallest, credential });
        pulumi.runtime.setAllConfig({ "stackadm:cluster": settings }, ["stackadm:cluster"]);
        return program();
      };
      try {
        await assert.rejects(
          graph(run, { ...cloudAnswers, ids }),
          new RegExp(`Pulumi\\.test\\.yaml is not valid:\n {2}cluster\\.${path}`),
        );
        assert.deepEqual(made, ["stackadm-test"], "the stack itself");
      } finally {
        env();
        await cloud.close();
      }
    });
});

describe("the supplied application credential of a cluster's controllers", () => {
  it("is tested while the lookup of the project still runs", async () => {
    const begun = new EventEmitter();
    const found = once(begun, "sign-in").then(() => facts);
    const signIn = (): Promise<Signed> => {
      begun.emit("sign-in");
      return signedIn();
    };
    const [tried, ...others] = await required(signIn, application, found);
    assert.ok(tried?.kind === "application");
    assert.deepEqual([tried.id, tried.secret, others], ["5d6a", "CANARY", []]);
  });

  it("is refused with the path of the setting and without the secret", async () => {
    await assert.rejects(required(refused, application), (error: Error) => {
      assert.match(
        error.message,
        /^\[INVALID_CONFIG\] Pulumi\.dev\.yaml is not valid:\n {2}cluster\.credential\.id: the application credential 5d6a cannot sign in: /,
      );
      assert.doesNotMatch(error.message, /CANARY/);
      return true;
    });
  });

  it("is refused for another project, and accepted if unrestricted", async () => {
    const other = () => signedIn().then((all) => ({ ...all, projectId: "other" }));
    await assert.rejects(
      required(other, application),
      /belongs to project other, but .* project p; /,
    );
    const free = () => signedIn().then((all) => ({ ...all, restricted: false }));
    assert.equal((await required(free, application)).length, 1);
  });

  it("is not reported if the lookup of the cloud fails", async () => {
    const wrong = Promise.reject(new Error("no such image"));
    await assert.rejects(required(refused, application, wrong), { message: "no such image" });
  });
});
