import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { getPackageRoot } from "../../../base/paths.js";
import {
  createListeningService,
  type ListeningService,
} from "../../support/engine/listening-service.js";
import {
  emptyProject,
  fakeProject,
  startFakeCloud,
  type FakeCloud,
} from "../../support/cloud/fake-openstack.js";
import { Authority } from "../../unit/openstack/support/authority.js";
import { importOf } from "../support/machine-program.js";
import { Project, succeeded } from "../support/project.js";
import { ServiceProject } from "../support/service-project.js";

/** Program with one network. It also signs in with the operator's context. */
const program = `
import * as pulumi from "@pulumi/pulumi";
import * as openstack from "@pulumi/openstack";
${importOf("getOperatorContext", "../config.ts")}
export = async () => {
  const cluster = new pulumi.ComponentResource("stackadm:index:Cluster", "dev");
  const { projectId, authUrl } = await getOperatorContext().connect();
  const net = new openstack.networking.Network("net", { name: "net" }, { parent: cluster });
  return { net: net.id, projectId, authUrl };
};
`;

const password = "correct horse battery";

/** Makes a fake cloud create, show and delete one network. */
function serveNetwork(cloud: FakeCloud): void {
  const body = {
    network: { id: "n-1", name: "net", project_id: fakeProject, tenant_id: fakeProject, tags: [] },
  };
  let exists = false;
  emptyProject(cloud);
  cloud.on("POST /network/v2.0/networks", () => {
    exists = true;
    return { status: 201, body };
  });
  cloud.on("GET /network/v2.0/networks/n-1", () =>
    exists ? { body: { network: { ...body.network, status: "ACTIVE" } } } : { status: 404 },
  );
  cloud.on("DELETE /network/v2.0/networks/n-1", () => {
    exists = false;
    return { status: 204 };
  });
}

describe("a stack whose settings name its cloud, on a real engine", function () {
  this.timeout(240_000);
  let ours: FakeCloud;
  let other: FakeCloud;
  beforeEach(async () => {
    [ours, other] = await Promise.all([startFakeCloud(), startFakeCloud()]);
    for (const cloud of [ours, other]) serveNetwork(cloud);
  });
  afterEach(() => Promise.all([ours.close(), other.close()]));

  const login = (): Readonly<Record<string, string>> => ({
    authUrl: `${ours.authUrl}/v3`,
    userName: "demo",
    tenantName: "demo",
    region: "one",
  });
  const created = ({ seen }: FakeCloud): number =>
    seen.filter(({ method, path }) => method === "POST" && path.includes("networks")).length;
  const withoutCloud = Object.fromEntries(
    Object.keys(process.env)
      .filter((name) => name.startsWith("OS_"))
      .map((name) => [name, undefined]),
  );

  it("has program, plugin and requests of pulumi in the cloud of an encrypted login, and no variable", async () => {
    const project = await Project.create({ program, file: "index.ts" });
    try {
      Object.assign(project.environment, withoutCloud);
      for (const [key, value] of Object.entries(login()))
        succeeded(await project.run("config", "set", `openstack:${key}`, value));
      succeeded(await project.run("config", "set", "--secret", "openstack:password", password));
      succeeded(await project.up());
      assert.equal(created(ours), 1);
      assert.match(
        (await project.run("stack", "output", "authUrl")).output,
        new RegExp(ours.authUrl),
      );
      const state = await project.run("stack", "export");
      assert.match(state.output, /"openstack:networking\/network:Network"/);
      assert.doesNotMatch(state.output, new RegExp(password));
      Object.assign(project.environment, { OS_CLOUD: "dev" });
      const refused = await project.up();
      assert.notEqual(refused.code, 0);
      assert.match(
        refused.output,
        /openstack:authUrl would be ignored by OpenStack's provider, because OS_CLOUD=dev/,
      );
    } finally {
      project.remove();
    }
  });

  describe("for the commands", () => {
    const bare = { preflight: false, verify: false } as const;
    let project: ServiceProject;
    let service: ListeningService;
    const start = (environment: NodeJS.ProcessEnv): void => {
      project = new ServiceProject("connected", "", { ...withoutCloud, ...environment });
      writeFileSync(join(project.directory, "index.ts"), program);
      symlinkSync(join(getPackageRoot(), "node_modules"), join(project.directory, "node_modules"));
      service = createListeningService({
        ...project.service,
        program: join(project.directory, "index.ts"),
      });
    };
    const pulumi = (...args: readonly string[]): void => {
      const { env, projectDirectory: cwd } = project.service;
      const given = [...args, "--stack", "dev", "--non-interactive"];
      execFileSync("pulumi", given, { env, cwd, stdio: "pipe" });
    };
    afterEach(() => {
      project.remove();
    });

    it("uses the encrypted login in place of the environment's, and destroys in the same cloud", async () => {
      start({ ...other.environment(), OS_TOKEN: "of another day" });
      pulumi("stack", "init");
      for (const [key, value] of Object.entries({ ...login(), domainId: "default" }))
        pulumi("config", "set", `openstack:${key}`, value);
      pulumi("config", "set", "--secret", "openstack:password", password);
      const notes: string[] = [];
      const { outputs } = await service.up("dev", { ...bare, onNote: (text) => notes.push(text) });
      assert.deepEqual([created(ours), other.seen], [1, []]);
      assert.equal(outputs["authUrl"]?.value, login()["authUrl"]);
      assert.match(notes.join("\n"), /Not used from your environment: OS_AUTH_URL, OS_PASSWORD, /);
      const state = readFileSync(project.checkpoint, "utf8");
      assert.doesNotMatch(state + notes.join("\n"), new RegExp(password));
      await service.up("dev", { ...bare, expectNoChanges: true });
      await service.destroy("dev");
      const deleted = ours.seen.filter(({ method }) => method === "DELETE");
      assert.deepEqual([deleted.length, other.seen], [1, []]);
    });

    it("uses an entry of clouds.yaml, and the CA certificate at a path relative to the project", async () => {
      const authority = await Authority.found();
      const secured = await startFakeCloud({ tls: await authority.sign("cloud") });
      serveNetwork(secured);
      start({});
      const { directory, service: options } = project;
      const auth = { auth_url: `${secured.authUrl}/v3`, username: "demo", password };
      const place = { project_name: "demo", domain_id: "default" };
      const clouds = { prod: { auth: { ...auth, ...place }, region_name: "one" } };
      try {
        writeFileSync(join(directory, "clouds.yaml"), stringify({ clouds }));
        writeFileSync(join(directory, "ca.pem"), authority.read("ca.pem"));
        const settings = { "openstack:cloud": "prod", "openstack:cacertFile": "ca.pem" };
        writeFileSync(join(directory, "Pulumi.dev.yaml"), stringify({ config: settings }));
        options.env["OS_CLIENT_CONFIG_FILE"] = join(directory, "clouds.yaml");
        await service.up("dev", bare);
        assert.equal(created(secured), 1);
        await service.destroy("dev");
        assert.deepEqual([ours.seen, other.seen], [[], []]);
      } finally {
        await secured.close();
        authority.remove();
      }
    });
  });
});
