import assert from "node:assert/strict";
import { connectCloud } from "../../../../openstack/client/cloud-client.js";
import { CloudError } from "../../../../openstack/http/cloud-error.js";
import {
  buildApplicationCredential,
  checkSuppliedCredential,
  tryCredential,
  type SuppliedCredential,
} from "../../../../openstack/checks/supplied-credential.js";
import {
  fakeProject,
  inNoTime,
  startFakeCloud,
  type FakeAnswer,
  type FakeCloud,
} from "../../../support/cloud/fake-openstack.js";

const tokens = "POST /identity/v3/auth/tokens";
const shown = "GET /identity/v3/users/shop/application_credentials/5d6a";
const now = Date.parse("2027-01-01T00:00:00Z");
const both = ["member", "load-balancer_member"];
const make =
  "create one with `openstack application credential create --role member --role load-balancer_member <name>`, and write its ID and secret to credential.id and credential.secret";

describe("checkSuppliedCredential", () => {
  let cloud: FakeCloud;
  beforeEach(async () => {
    cloud = await startFakeCloud();
  });
  afterEach(() => cloud.close());

  interface Known {
    readonly roles?: readonly string[];
    readonly project?: string;
    readonly restricted?: boolean;
  }
  /** Sets Keystone's answers: a token of the credential, and the credential itself. */
  const answers = (
    { roles = both, project = fakeProject, restricted = true }: Known = {},
    end: string | null = null,
  ): void => {
    const token = {
      expires_at: "2099-01-01T00:00:00.000000Z",
      project: { id: project, name: "demo" },
      user: { id: "shop" },
      roles: roles.map((name) => ({ id: name, name })),
      application_credential: { id: "5d6a", name: "k8s", restricted },
    };
    cloud.on(tokens, { status: 201, headers: { "x-subject-token": "t" }, body: { token } });
    cloud.on(shown, { body: { application_credential: { id: "5d6a", expires_at: end } } });
  };
  const ask = async (
    over: Partial<SuppliedCredential> = {},
    roles: readonly string[] = [...both, "reader"],
  ): Promise<string[]> => {
    const credential = buildApplicationCredential("5d6a", "CANARY");
    const connect = () =>
      connectCloud({ env: cloud.environment(), credential, patience: inNoTime });
    const tried = await tryCredential(connect, "5d6a");
    const supplied = { id: "5d6a", projectId: fakeProject, roles, now, ...over };
    return checkSuppliedCredential(tried, supplied).map(
      ({ severity, text }) => `${severity} ${text}`,
    );
  };

  it("signs in by ID and secret with two requests", async () => {
    answers();
    assert.deepEqual(await ask(), []);
    const [signIn, ...others] = cloud.seen;
    assert.deepEqual(signIn?.body, {
      auth: {
        identity: {
          methods: ["application_credential"],
          application_credential: { id: "5d6a", secret: "CANARY" },
        },
      },
    });
    assert.equal(others.length, 1);
  });

  for (const status of [401, 404])
    it(`reports a refused credential without the secret (${String(status)})`, async () => {
      cloud.on(tokens, { status, body: { error: { code: status, message: "Could not find it" } } });
      assert.deepEqual(await ask(), [
        `problem credential.id: the application credential 5d6a cannot sign in: it does not exist, credential.secret is wrong, it has expired, or its user is disabled or has lost a role; ${make}`,
      ]);
    });

  it("throws instead of reporting a wrong credential if the cloud fails", async () => {
    cloud.on(tokens, { status: 503, body: "no" });
    await assert.rejects(ask(), (error) => error instanceof CloudError && error.status === 503);
  });

  it("refuses a credential of another project with any roles", async () => {
    answers({ project: "other", roles: [] });
    assert.deepEqual(await ask(), [
      `problem credential.id: the application credential 5d6a belongs to project other, but the cluster is created in project ${fakeProject}; sign in to that project, and ${make}`,
    ]);
  });

  it("requires the roles that a created credential would get, and reports how to create one", async () => {
    answers({ roles: ["reader"] });
    assert.deepEqual(await ask(), [
      `problem credential.id: the application credential 5d6a does not have member, load-balancer_member in project ${fakeProject}, only reader; ${make}`,
    ]);
    answers({ roles: ["Member"] });
    assert.deepEqual(await ask(), [
      `warning credential.id: the application credential 5d6a does not have load-balancer_member in project ${fakeProject}: the cluster's controllers cannot do what the cloud allows with this role only; ${make}`,
    ]);
    answers();
    const certificate = "loadBalancer.defaultTlsContainerRef";
    const [barbican = ""] = await ask({ certificate }, [...both, "creator"]);
    assert.match(barbican, /^warning .* does not have creator in .* --role creator <name>`/);
  });

  it("only warns about unknown roles", async () => {
    answers({ roles: ["k8s-controllers"] });
    assert.deepEqual(await ask(), [
      `warning credential.id: the application credential 5d6a does not have member, load-balancer_member in project ${fakeProject}: the cluster's controllers cannot do what the cloud allows with this role only; ${make}`,
    ]);
  });

  it("accepts the credential if the cloud has other role names", async () => {
    answers({ roles: ["tenant"] });
    assert.deepEqual(await ask({}, ["tenant"]), []);
  });

  it("warns about more rights than the controllers need", async () => {
    answers({ roles: ["admin", ...both] });
    assert.deepEqual(await ask(), [
      `warning credential.id: the application credential 5d6a has the role admin, and so has every reader of the cluster's Secret cloud-config; ${make}`,
    ]);
    answers({ roles: ["admin"], restricted: false });
    assert.deepEqual(
      (await ask({}, ["tenant"])).map((text) => text.replace(/.*5d6a /, "")),
      [
        "has the role admin, and so has every reader of the cluster's Secret cloud-config; create one with `openstack application credential create --role <role> <name>`, and write its ID and secret to credential.id and credential.secret",
        "is unrestricted: every reader of the cluster's Secret cloud-config can create other credentials, which outlive it; create one with `openstack application credential create --role <role> <name>`, and write its ID and secret to credential.id and credential.secret",
      ],
    );
  });

  it("warns before the credential expires, unless the settings contain the same end", async () => {
    const soon = "2027-01-11T00:00:00.000000";
    answers({}, soon);
    assert.deepEqual(await ask(), [
      "warning credential.id: the credential of the cluster's controllers ends at 2027-01-11T00:00:00Z, in 10 days: without it, the cluster can create neither load balancers nor volumes; write a new credential.id and credential.secret and run up before it ends",
    ]);
    assert.equal((await ask({ expiresAt: "2028-01-01T00:00:00Z" })).length, 1);
    assert.deepEqual(await ask({ expiresAt: "2027-01-11T00:00:00Z" }), []);
    answers({}, "2027-03-01T00:00:00.000000");
    assert.deepEqual(await ask(), []);
  });

  it("accepts a credential whose end Keystone does not report", async () => {
    const silent: readonly FakeAnswer[] = [
      ...[401, 403, 404, 500, 503].map((status) => ({ status, body: {} })),
      { status: "reset" },
      { body: {} },
      { body: "a page" },
    ];
    for (const answer of silent) {
      answers();
      cloud.on(shown, answer);
      const before = cloud.seen.length;
      assert.deepEqual(await ask(), [], JSON.stringify(answer));
      assert.equal(cloud.seen.length - before, 2, "asked once");
    }
  });
});
