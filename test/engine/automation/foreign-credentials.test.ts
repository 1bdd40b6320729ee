import assert from "node:assert/strict";
import { join, resolve } from "node:path";
import {
  createListeningService,
  type ListeningService,
} from "../../support/engine/listening-service.js";
import {
  fakeProject,
  fakeUser,
  startFakeCloud,
  tokenOf,
  type FakeCloud,
  type SeenRequest,
} from "../../support/cloud/fake-openstack.js";
import { StackOperation } from "../../../automation/engine/operation-context.js";
import { readState, runPulumi } from "../../../automation/pulumi/stack-state.js";
import { ServiceProject } from "../support/service-project.js";

const modules = resolve(__dirname, "..", "..", "..", "node_modules");
/** Program with a minimal cluster: the credential of its controllers. */
const program = `
const pulumi = require(${JSON.stringify(join(modules, "@pulumi/pulumi"))});
const openstack = require(${JSON.stringify(join(modules, "@pulumi/openstack"))});
module.exports = async () => {
  const type = "stackadm:identity:ApplicationCredential";
  const cluster = new pulumi.ComponentResource("stackadm:index:Cluster", "dev");
  const parent = new pulumi.ComponentResource(type, "dev-credential", {}, { parent: cluster });
  const suffix = process.env.GENERATION ?? "";
  const { id } = new openstack.identity.ApplicationCredential(
    "dev-credential-credential" + suffix,
    { name: "dev" + suffix, roles: ["member"], unrestricted: false },
    { parent, deleteBeforeReplace: true },
  );
  return { credential: id };
};
`;

interface Credential {
  readonly id: string;
  readonly name: string;
  readonly user: string;
}

describe("a cluster's application credential that another user owns", function () {
  this.timeout(240_000);
  const second = "00000000000000000000000000000002";
  const bare = { preflight: false, verify: false } as const;
  const member = { id: "member", name: "member" };
  let cloud: FakeCloud;
  let project: ServiceProject;
  let made: Credential[];

  const shown = ({ id, name }: Credential): object => ({
    id,
    name,
    project_id: fakeProject,
    roles: [member],
    unrestricted: false,
    expires_at: null,
  });
  const mayNot = { status: 403, body: { error: { message: "You are not authorized" } } };
  const asks = ({ headers }: SeenRequest, user: string): boolean =>
    headers["x-auth-token"] === tokenOf(user);
  /**
   * Answers like Keystone's policy: only the credential's own user may read or delete the
   * credential. The user in the path has no effect.
   */
  let answer = (credential: Credential): void => {
    for (const user of [fakeUser, second]) {
      const path = `/identity/v3/users/${user}/application_credentials/${credential.id}`;
      const there = (): boolean => made.includes(credential);
      cloud.on(`GET ${path}`, (request) => {
        if (!there()) return { status: 404 };
        if (!asks(request, credential.user)) return mayNot;
        return { body: { application_credential: shown(credential) } };
      });
      cloud.on(`DELETE ${path}`, (request) => {
        if (!there()) return { status: 404 };
        if (!asks(request, credential.user)) return mayNot;
        made = made.filter((one) => one !== credential);
        return { status: 204 };
      });
    }
  };
  const answerUser = (user: string): void => {
    const path = `/identity/v3/users/${user}/application_credentials`;
    cloud.on(`GET ${path}`, () => ({
      body: { application_credentials: made.filter((one) => one.user === user).map(shown) },
    }));
    cloud.on(`POST ${path}`, ({ body }) => {
      const { name } = (body as { application_credential: { name: string } })
        .application_credential;
      const credential = { id: `${name}-of-${user}`, name, user };
      made.push(credential);
      answer(credential);
      return {
        status: 201,
        body: { application_credential: { ...shown(credential), secret: "s" } },
      };
    });
  };
  const optionsOf = (env: NodeJS.ProcessEnv) => ({
    ...project.service,
    env: { ...project.service.env, ...env },
  });
  const service = (env: NodeJS.ProcessEnv = {}): ListeningService =>
    createListeningService(optionsOf(env));
  const bySecond = (generation?: string): ListeningService =>
    service({ OS_USERNAME: "second", GENERATION: generation });
  const users = (): string[] => made.map(({ user }) => user);

  beforeEach(async () => {
    made = [];
    cloud = await startFakeCloud({ services: ["identity"], users: { second } });
    cloud.on("GET /identity/v3/auth/tokens", ({ headers }) => {
      const id = headers["x-subject-token"] === tokenOf(second) ? second : fakeUser;
      const user = { id, name: "one", domain: { id: "default", name: "Default" } };
      const ends = new Date(Date.now() + 3_600_000).toISOString();
      const token = { user, project: { id: fakeProject }, roles: [member], expires_at: ends };
      return { body: { token } };
    });
    for (const user of [fakeUser, second]) answerUser(user);
    const place = { OS_AUTH_URL: `${cloud.authUrl}/v3`, OS_DOMAIN_NAME: "Default" };
    const environment = { ...cloud.environment(place), OS_CLOUD: undefined };
    project = new ServiceProject("others", program, environment);
    await service().up("dev", bare);
    assert.deepEqual(users(), [fakeUser]);
  });
  afterEach(async () => {
    await cloud.close();
    project.remove();
  });

  it("survives refresh, preview and up by a user without access", async () => {
    await bySecond().refresh("dev");
    await bySecond().preview("dev", { ...bare, refresh: true });
    await bySecond().up("dev", { ...bare, refresh: true });
    const { outputs } = await service().up("dev", { ...bare, refresh: true });
    assert.deepEqual([users(), outputs["credential"]?.value], [[fakeUser], made[0]?.id]);
  });

  it("makes plain `pulumi refresh` and destroy fail unless the documented commands leave it out", async () => {
    const run = new StackOperation(optionsOf({ OS_USERNAME: "second" }), "dev");
    const { access } = run;
    const pulumi = (...args: readonly string[]) =>
      runPulumi(access, [...args, "--yes"], { accept: [0, 1, 255] });
    try {
      const exclude = "**ApplicationCredential::*";
      const refused = await pulumi("refresh", "--skip-preview");
      assert.match(refused.stdout, /403|not authorized/);
      const passed = await pulumi("refresh", "--skip-preview", "--exclude", exclude);
      assert.equal(passed.code, 0, passed.stdout);
      assert.notEqual((await pulumi("destroy", "--skip-preview")).code, 0);
      const state = await readState(access);
      const urn = (state?.deployment.resources ?? []).find(({ id }) => id === made[0]?.id)?.urn;
      assert.equal((await pulumi("state", "delete", urn ?? "")).code, 0);
      assert.equal((await pulumi("destroy", "--skip-preview")).code, 0);
      assert.deepEqual(users(), [fakeUser]);
    } finally {
      run.close();
    }
  });

  it("is replaced only by the owner after a create whose read failed", async () => {
    const shows = answer;
    let readable = false;
    answer = (credential) => {
      shows(credential);
      const path = `GET /identity/v3/users/${fakeUser}/application_credentials/${credential.id}`;
      cloud.on(path, () =>
        readable
          ? { body: { application_credential: shown(credential) } }
          : { status: 500, body: {} },
      );
    };
    const own = service({ GENERATION: "-1" });
    await assert.rejects(own.up("dev", bare), /500|Internal Server Error/);
    readable = true;
    const both = [fakeUser, fakeUser];
    assert.deepEqual(users(), both);
    await assert.rejects(bySecond("-1").up("dev", bare), /doesn't support update/);
    assert.deepEqual(users(), both);
    const { outputs } = await own.up("dev", bare);
    assert.deepEqual([users(), outputs["credential"]?.value], [[fakeUser], `dev-1-of-${fakeUser}`]);
  });

  for (const refresh of [false, true])
    it(`remains after a replacement by another user${refresh ? " with refresh" : ""}`, async () => {
      const { outputs } = await bySecond("-1").up("dev", { ...bare, refresh });
      assert.equal(outputs["credential"]?.value, `dev-1-of-${second}`);
      assert.deepEqual(users(), [fakeUser, second]);
      await bySecond("-1").up("dev", { ...bare, expectNoChanges: true });
      await bySecond("-2").up("dev", bare);
      assert.deepEqual(users(), [fakeUser, second]);
    });

  it("remains in the cloud and is reported when another user destroys the cluster", async () => {
    const { others = [] } = await bySecond().destroy("dev");
    assert.deepEqual(
      others.map(({ id }) => id),
      made.map(({ id }) => id),
    );
    assert.deepEqual(users(), [fakeUser]);
    assert.equal(await service().state("dev"), undefined);
  });

  it("is deleted when the owner destroys the cluster after another user's up", async () => {
    await bySecond().up("dev", bare);
    await service().destroy("dev");
    assert.deepEqual(users(), []);
  });
});
