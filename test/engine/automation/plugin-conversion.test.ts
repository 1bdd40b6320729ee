import assert from "node:assert/strict";
import { convertRecordedServerGroups } from "../../../automation/guards/plugin-conversion.js";
import type { StateExport } from "../../../automation/pulumi/stack-state.js";
import type { PulumiOpenstackVersion } from "../../../base/versions/pulumi-openstack-versions.js";
import { startFakeCloud, type FakeCloud } from "../../support/cloud/fake-openstack.js";
import { installPlugins, usePlugin } from "../support/openstack-plugins.js";
import { importOf } from "../support/machine-program.js";
import { Project, succeeded } from "../support/project.js";

/** Program that creates a server group in the same way as `Cluster`. */
const program = `
import { ComponentResource } from "@pulumi/pulumi";
import * as openstack from "@pulumi/openstack";
${importOf("toServerGroupPolicies, createPluginVersionOptions", "pulumi/openstack-plugin.ts")}

export = async () => {
  const plugin = process.env.PLUGIN;
  const parent = new ComponentResource("stackadm:index:Cluster", "dev", {}, createPluginVersionOptions(plugin));
  const policies = toServerGroupPolicies("soft-anti-affinity");
  const options = { parent, ignoreChanges: ["name"] };
  const group = new openstack.compute.ServerGroup("dev-server-group", { name: "dev", policies }, options);
  return { group: group.id };
};
`;
const path = "/compute/os-server-groups";

/** Answers requests for server groups, and keeps the groups. */
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
      cloud.on(`GET ${path}/${id}`, { status: 404 });
      return { status: 204 };
    });
    return { body: { server_group: group } };
  });
}

describe("a server group in the state of another OpenStack plugin version", function () {
  this.timeout(20 * 60_000);
  let cloud: FakeCloud;
  let project: Project;

  const choose = (version: PulumiOpenstackVersion): void => {
    project.environment["PLUGIN"] = version;
  };
  const exported = async (): Promise<StateExport> =>
    JSON.parse(await project.export()) as StateExport;
  const hold = async (state: StateExport): Promise<void> => {
    project.write("state.json", JSON.stringify(state));
    succeeded(await project.run("stack", "import", "--file", "state.json"));
  };
  /**
   * Returns the state without the record of types. Plugins with an earlier bridge write no such
   * record.
   */
  const withoutTypesRecord = (state: StateExport): StateExport =>
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
    await installPlugins(project);
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
      ["with the type record", (state: StateExport) => state],
      ["without the type record", withoutTypesRecord],
    ] as const)
      it(`works with ${to} after conversion from ${from} ${what}, and can be deleted`, async () => {
        choose(from);
        succeeded(await project.up());
        await hold(shaped(await exported()));
        choose(to);
        await hold(convertRecordedServerGroups(await exported(), to));
        await unchanged();
        await unchanged();
        const before = cloud.seen.length;
        succeeded(await project.destroy());
        assert.deepEqual(changes(before), ["DELETE"]);
      });

  afterEach(async () => {
    succeeded(await project.destroy());
  });

  it("fails `pulumi up` without a state error, and works with --run-program", async () => {
    choose("3.15.2");
    succeeded(await project.up());
    choose("5.5.1");
    const { code, output } = await project.up();
    assert.notEqual(code, 0);
    assert.match(
      output,
      /dev-server-group cannot be updated: another version .*; run `pulumi up --refresh --run-program` once/,
    );
    const held = (await exported()).deployment.resources ?? [];
    assert.ok(held.every(({ initErrors = [] }) => initErrors.length === 0));
    succeeded(await project.up("--refresh", "--run-program"));
    await unchanged();
  });

  it("changes from 5.5.1 to 3.15.2 with `pulumi up --refresh --run-program`", async () => {
    choose("5.5.1");
    succeeded(await project.up());
    choose("3.15.2");
    succeeded(await project.up("--refresh", "--run-program"));
    await unchanged();
  });

  it("is deleted by version 3.15.2 after conversion to 5.5.1", async () => {
    choose("3.15.2");
    succeeded(await project.up());
    await hold(convertRecordedServerGroups(await exported(), "5.5.1"));
    const before = cloud.seen.length;
    succeeded(await project.destroy());
    assert.deepEqual(changes(before), ["DELETE"]);
  });

  it("is deleted by version 5.5.1 on PATH without conversion", async () => {
    choose("3.15.2");
    succeeded(await project.up());
    await usePlugin(project, "5.5.1");
    const before = cloud.seen.length;
    succeeded(await project.destroy());
    assert.deepEqual(changes(before), ["DELETE"]);
  });
});
