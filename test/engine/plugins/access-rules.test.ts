import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { listAccessRules, type AccessRule } from "../../../openstack/auth/access-rules.js";
import {
  fakeProject,
  fakeUser,
  startFakeCloud,
  type FakeCloud,
} from "../../support/cloud/fake-openstack.js";
import { Project, succeeded } from "../support/project.js";

const rules = listAccessRules(["controllers"], { routes: true, certificates: true });
const program = `
const openstack = require("@pulumi/openstack");
new openstack.identity.ApplicationCredential("credential", {
  name: "credential", roles: ["member"], unrestricted: false, accessRules: ${JSON.stringify(rules)},
});
`;

type KeptRule = AccessRule & { readonly id: string };

describe("an application credential with access rules", function () {
  this.timeout(240_000);
  const users = `/identity/v3/users/${fakeUser}`;
  let cloud: FakeCloud;
  let project: Project;
  /**
   * Access rules in Keystone's format: each rule has an ID, and the order differs from the program.
   */
  let kept: KeptRule[] = [];

  before(async () => {
    cloud = await startFakeCloud({ services: ["identity"] });
    const signIn = { OS_AUTH_URL: `${cloud.authUrl}/v3`, OS_DOMAIN_NAME: "Default" };
    project = await Project.create({ program });
    Object.assign(project.environment, cloud.environment(signIn));
    const member = { id: "member", name: "member" };
    const user = { id: fakeUser, name: "demo", domain: { id: "default", name: "Default" } };
    const ends = new Date(Date.now() + 3_600_000).toISOString();
    cloud.on("GET /identity/v3/auth/tokens", {
      body: { token: { user, project: { id: fakeProject }, roles: [member], expires_at: ends } },
    });
    const shown = (): object => ({
      application_credential: {
        id: "c",
        name: "credential",
        project_id: fakeProject,
        roles: [member],
        unrestricted: false,
        expires_at: null,
        access_rules: kept,
      },
    });
    cloud.on(`POST ${users}/application_credentials`, ({ body }) => {
      const asked = body as { application_credential: { access_rules: AccessRule[] } };
      kept = asked.application_credential.access_rules
        .map((rule) => ({ ...rule, id: randomUUID() }))
        .sort(({ id }, other) => (id < other.id ? -1 : 1));
      for (const { id } of kept)
        cloud.on(`DELETE ${users}/access_rules/${id}`, () => {
          kept = kept.filter((one) => one.id !== id);
          return { status: 204 };
        });
      const credential = (shown() as { application_credential: object }).application_credential;
      return { status: 201, body: { application_credential: { ...credential, secret: "s" } } };
    });
    cloud.on(`GET ${users}/application_credentials/c`, () => ({ body: shown() }));
    cloud.on(`DELETE ${users}/application_credentials/c`, { status: 204 });
  });
  after(async () => {
    project.remove();
    await cloud.close();
  });

  const key = ({ service, method, path }: AccessRule): string => `${service} ${method} ${path}`;

  it("sends each access rule to Keystone once", async () => {
    succeeded(await project.up());
    assert.deepEqual(kept.map(key).sort(), rules.map(key).sort());
  });

  it("remains unchanged after a second up and after a refresh", async () => {
    assert.match(succeeded(await project.up()), /2 unchanged/);
    assert.match(succeeded(await project.run("refresh", "--yes", "--skip-preview")), /2 unchanged/);
    assert.match(succeeded(await project.up()), /2 unchanged/);
  });

  it("is deleted with its access rules", async () => {
    succeeded(await project.destroy());
    assert.deepEqual(kept, []);
  });
});
