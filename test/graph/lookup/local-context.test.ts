import assert from "node:assert/strict";
import * as pulumi from "@pulumi/pulumi";
import program from "../../../index.js";
import { cloudAnswers } from "../../support/cloud/cloud-answers.js";
import { startFakeCloud, type FakeCloud } from "../../support/cloud/fake-openstack.js";
import { smallest } from "../../support/config/spec.js";
import { graph } from "../../support/graph/graph.js";
import { replace } from "../../support/replace-property.js";

describe("a program whose configuration names a cloud for OpenStack's provider", () => {
  let ours: FakeCloud;
  let other: FakeCloud;
  let restore: () => void;
  beforeEach(async () => {
    [ours, other] = await Promise.all([startFakeCloud(), startFakeCloud()]);
    const env = { ...process.env, ...other.environment(), OS_CLOUD: undefined };
    restore = replace(process, "env", env);
  });
  afterEach(async () => {
    restore();
    pulumi.runtime.setAllConfig({});
    await Promise.all([ours.close(), other.close()]);
  });
  const run = (more: Readonly<Record<string, string>>, secret: readonly string[]) => {
    const credential = { username: "shop", password: "CANARY" };
    const settings = {
      "stackadm:cluster": JSON.stringify({ ...smallest, credential }),
      "openstack:authUrl": ours.authUrl,
      "openstack:userName": "demo",
      "openstack:tenantName": "demo",
      "openstack:region": "one",
      ...more,
    };
    return graph(
      () => {
        pulumi.runtime.setAllConfig(settings, ["stackadm:cluster", ...secret]);
        return program();
      },
      { ...cloudAnswers },
    );
  };

  it("sends its requests there, and none to the cloud of the environment", async () => {
    ours.on("POST /identity/v3/auth/tokens", { status: 401, body: {} });
    await assert.rejects(
      run({ "openstack:password": "of ours" }, ["openstack:password"]),
      /cluster\.credential\.username: the user 'shop' of the domain 'Default' cannot sign in/,
    );
    assert.deepEqual(other.seen, []);
    const users = ours.seen.map(({ body }) => JSON.stringify(body));
    assert.ok(users.some((body) => body.includes("shop")));
  });

  it("is refused before any request if the environment would complete the login with another cloud's", async () => {
    await assert.rejects(
      run({}, []),
      /openstack:authUrl is .*, but OS_PASSWORD of the environment/,
    );
    assert.deepEqual([ours.seen, other.seen], [[], []]);
  });
});
