import assert from "node:assert/strict";
import { inFormOf } from "../../automation/cluster/plugin-forms.js";
import type { StateExport } from "../../automation/cluster/state.js";
import type { OpenstackPlugin } from "../../base/openstack-plugins.js";
import { startFakeCloud, type FakeCloud } from "../support/fake-openstack.js";
import { usePlugin } from "./support/openstack-plugins.js";
import { importOf } from "./support/machine-program.js";
import { Project, succeeded } from "./support/project.js";

/** Makes a server group as a cluster does. */
const program = `
import { ComponentResource } from "@pulumi/pulumi";
import * as openstack from "@pulumi/openstack";
${importOf("policyOf, withPlugin", "support/openstack-plugin.ts")}

export = async () => {
  const plugin = process.env.PLUGIN;
  const parent = new ComponentResource("stackadm:index:Cluster", "dev", {}, withPlugin(plugin));
  const policies = policyOf("soft-anti-affinity");
  const options = { parent, ignoreChanges: ["name"] };
  const group = new openstack.compute.ServerGroup("dev-server-group", { name: "dev", policies }, options);
  return { group: group.id };
};
`;
const path = "/compute/os-server-groups";

/** Answers for the server groups that are asked for, and keeps them. */
function answerGroups(cloud: FakeCloud): void {
  let made = 0;
  cloud.on(`POST ${path}`, ({ body }) => {
    const asked = (body as { server_group: { name: string; policies?: string[]; policy?: string } })
      .server_group;
    const id = `5ee5a1c4-0000-4000-8000-00000000000${String(made++)}`;
    const policies = asked.policies ?? [asked.policy];
    const group = { id, name: asked.name, policies, members: [], metadata: {} };
    cloud.on(`GET ${path}/${id}`, { body: { server_group: group } });
    cloud.on(`DELETE ${path}/${id}`, () => {
      cloud.on(`GET ${path}/${id}`, { status: 404, body: {} });
      return { status: 204 };
    });
    return { body: { server_group: group } };
  });
}

describe("a server group that another version of the OpenStack plugin made", function () {
  this.timeout(20 * 60_000);
  let cloud: FakeCloud;
  let project: Project;

  const choose = async (version: OpenstackPlugin): Promise<void> => {
    project.environment["PLUGIN"] = version;
    await usePlugin(project, version);
  };
  const exported = async (): Promise<StateExport> =>
    JSON.parse(await project.export()) as StateExport;
  const hold = async (state: StateExport): Promise<void> => {
    project.write("state.json", JSON.stringify(state));
    succeeded(await project.run("stack", "import", "--file", "state.json"));
  };
  /** As an earlier release of the official plugin left it. */
  const withoutMemory = (state: StateExport): StateExport =>
    JSON.parse(
      JSON.stringify(state, (key, value: unknown) =>
        key === "__pulumi_raw_state_delta" ? undefined : value,
      ),
    ) as StateExport;
  const changes = (since: number): string[] =>
    cloud.seen
      .slice(since)
      .filter(({ method, path: asked }) => method !== "GET" && asked.startsWith(path))
      .map(({ method }) => method);
  const unchanged = async (): Promise<void> => {
    const before = cloud.seen.length;
    succeeded(await project.run("preview", "--non-interactive", "--expect-no-changes"));
    succeeded(await project.up("--expect-no-changes"));
    assert.deepEqual(changes(before), []);
  };

  before(async () => {
    cloud = await startFakeCloud();
    answerGroups(cloud);
    project = await Project.create({ program, file: "index.ts" });
    const place = { OS_AUTH_URL: `${cloud.authUrl}/v3`, OS_DOMAIN_NAME: "Default" };
    Object.assign(project.environment, cloud.environment(place));
  });
  after(async () => {
    await cloud.close();
    project.remove();
  });

  for (const [from, to] of [
    ["3.15.2", "5.5.1"],
    ["5.5.1", "3.15.2"],
  ] as const)
    for (const [what, shaped] of [
      ["as it is", (state: StateExport) => state],
      ["without what the plugin remembers", withoutMemory],
    ] as const)
      it(`is taken over from ${from} by ${to}, ${what}: nothing changes, and it can be deleted`, async () => {
        await choose(from);
        succeeded(await project.up());
        await hold(shaped(await exported()));
        await choose(to);
        await hold(inFormOf(await exported(), to));
        await unchanged();
        await unchanged();
        const before = cloud.seen.length;
        succeeded(await project.destroy());
        assert.deepEqual(changes(before), ["DELETE"]);
      });

  afterEach(async () => {
    succeeded(await project.destroy());
  });

  it("is refused by plain `pulumi up`, which leaves no error in the state, and taken over with --refresh", async () => {
    await choose("3.15.2");
    succeeded(await project.up());
    await choose("5.5.1");
    const { code, output } = await project.up();
    assert.notEqual(code, 0);
    assert.match(output, /dev-server-group as another version .*; run `pulumi up --refresh` once/);
    const held = (await exported()).deployment.resources ?? [];
    assert.ok(held.every(({ initErrors = [] }) => initErrors.length === 0));
    succeeded(await project.up("--refresh"));
    await unchanged();
  });

  it("is deleted by another version, too", async () => {
    await choose("3.15.2");
    succeeded(await project.up());
    await choose("5.5.1");
    const before = cloud.seen.length;
    succeeded(await project.destroy());
    assert.deepEqual(changes(before), ["DELETE"]);
  });
});
