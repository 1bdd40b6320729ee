import assert from "node:assert/strict";
import { connectCloud } from "../../../../openstack/client/cloud-client.js";
import { CloudError } from "../../../../openstack/http/cloud-error.js";
import {
  buildUserCredential,
  checkServiceUser,
  type ServiceUser,
  type ServiceUserCheckOptions,
} from "../../../../openstack/checks/service-user-check.js";
import {
  fakeProject,
  inNoTime,
  startFakeCloud,
  type FakeCloud,
} from "../../../support/cloud/fake-openstack.js";

const tokens = "POST /identity/v3/auth/tokens";
const now = Date.parse("2027-01-01T00:00:00Z");
const user: ServiceUser = { username: "shop" };
const both = ["member", "load-balancer_member"];

describe("checkServiceUser", () => {
  let cloud: FakeCloud;
  beforeEach(async () => {
    cloud = await startFakeCloud();
  });
  afterEach(() => cloud.close());

  /**
   * Sets Keystone's answer: a token with these roles, of a user whose password expires at `end`.
   */
  const answers = (roles: readonly string[], end: string | null = null): void => {
    const token = {
      expires_at: "2099-01-01T00:00:00.000000Z",
      project: { id: fakeProject, name: "demo" },
      user: { id: "shop", password_expires_at: end },
      roles: roles.map((name) => ({ id: name, name })),
    };
    cloud.on(tokens, { status: 201, headers: { "x-subject-token": "t" }, body: { token } });
  };
  const ask = async (over: Partial<ServiceUserCheckOptions> = {}): Promise<string[]> => {
    const trial = { user, projectId: fakeProject, roles: [...both, "reader"], now, ...over };
    const credential = buildUserCredential(trial.user, { password: "p", projectId: fakeProject });
    const connect = () =>
      connectCloud({ env: cloud.environment(), credential, patience: inNoTime });
    return (await checkServiceUser(connect, trial)).map(
      ({ severity, text }) => `${severity} ${text}`,
    );
  };

  it("signs in to the cluster's project by user name and domain, or by ID", async () => {
    answers(both);
    const asked = async (who: ServiceUser) => {
      assert.deepEqual(await ask({ user: who }), []);
      return (cloud.seen.at(-1)?.body as { auth: object }).auth;
    };
    const auth = (who: object) => ({
      identity: { methods: ["password"], password: { user: { ...who, password: "p" } } },
      scope: { project: { id: fakeProject } },
    });
    assert.deepEqual(await asked(user), auth({ name: "shop", domain: { name: "Default" } }));
    const elsewhere = { ...user, userDomainName: "Services" };
    assert.deepEqual(await asked(elsewhere), auth({ name: "shop", domain: { name: "Services" } }));
    assert.deepEqual(await asked({ userId: "5d6a" }), auth({ id: "5d6a" }));
  });

  it("reports a refused user without the password", async () => {
    cloud.on(tokens, { status: 401, body: { error: { message: "requires authentication" } } });
    assert.deepEqual(await ask(), [
      `problem credential.username: the user 'shop' of the domain 'Default' cannot sign in to project ${fakeProject}: the user does not exist, the password is wrong or expired, or the user is disabled, locked or without a role in the project; correct credential.password or ask the cloud's operator to correct the user`,
    ]);
    const [byId = ""] = await ask({ user: { userId: "5d6a" } });
    assert.match(byId, /^problem credential\.userId: the user 5d6a cannot sign in to project/);
  });

  it("throws instead of reporting a wrong user if the cloud fails", async () => {
    cloud.on(tokens, { status: 503, body: "no" });
    await assert.rejects(ask(), (error) => error instanceof CloudError && error.status === 503);
  });

  it("requires the roles that a credential would get, and reports how to add missing ones", async () => {
    const add = `ask the cloud's operator to add it with \`openstack role add --project ${fakeProject} --user <user> <role>\``;
    answers(["reader"]);
    assert.deepEqual(await ask(), [
      `problem credential.username: the user 'shop' of the domain 'Default' does not have member, load-balancer_member in project ${fakeProject}, only reader; ${add}`,
    ]);
    answers(["member"]);
    assert.deepEqual(await ask(), [
      `warning credential.username: the user 'shop' of the domain 'Default' does not have load-balancer_member in project ${fakeProject}: the cluster's controllers cannot do what the cloud allows with this role only; ${add}`,
    ]);
    assert.deepEqual(await ask({ roles: ["Member"] }), []);
    const certificate = "loadBalancer.defaultTlsContainerRef";
    const [barbican = ""] = await ask({ roles: ["member", "creator"], certificate });
    assert.match(barbican, /^warning .* does not have creator in project/);
    answers(["admin"]);
    assert.deepEqual(await ask(), []);
  });

  it("accepts the user if the cloud has other role names", async () => {
    answers(["tenant"]);
    assert.deepEqual(await ask({ roles: ["tenant"] }), []);
  });

  it("warns before the user's password expires", async () => {
    answers(both, "2027-01-11T00:00:00.000000");
    assert.deepEqual(await ask(), [
      "warning credential.password: the credential of the cluster's controllers ends at 2027-01-11T00:00:00Z, in 10 days: without it, the cluster can create neither load balancers nor volumes; get a new password, and write it to credential.password and run up before it ends",
    ]);
    answers(both, "2027-03-01T00:00:00.000000");
    assert.deepEqual(await ask(), []);
  });
});
