import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import {
  createListeningService,
  type ListeningService,
} from "../../support/engine/listening-service.js";
import { findStackOwnership } from "../../../automation/pulumi/stack-state.js";
import {
  emptyProject,
  startFakeCloud,
  type FakeCloud,
} from "../../support/cloud/fake-openstack.js";
import { ServiceProject } from "../support/service-project.js";

const modules = resolve(__dirname, "..", "..", "..", "node_modules");
/**
 * Program with a minimal cluster: its identity, a retained resource, and a network whose deletion
 * fails while a file exists.
 */
const program = `
const pulumi = require(${JSON.stringify(join(modules, "@pulumi/pulumi"))});
const command = require(${JSON.stringify(join(modules, "@pulumi/command"))});
module.exports = async () => {
  const parent = new pulumi.ComponentResource("stackadm:index:Cluster", "dev");
  const identity = new command.local.Command("dev-identity", { create: "printf %s 0123456789ab" }, { parent });
  const environment = { OF: identity.stdout };
  new command.local.Command("network", { create: "true", delete: "test ! -e " + process.env.IN_USE, environment }, { parent });
  if (process.env.WITHOUT !== "1")
    new command.local.Command("address", { create: "true", environment }, { parent, retainOnDelete: true });
};
`;

describe("a resource with retainOnDelete", function () {
  this.timeout(240_000);
  const bare = { preflight: false, verify: false, kubeconfigFile: false } as const;
  let cloud: FakeCloud;
  let project: ServiceProject;
  let inUse: string;
  const service = (env: NodeJS.ProcessEnv = {}): ListeningService =>
    createListeningService({
      ...project.service,
      env: { ...project.service.env, IN_USE: inUse, ...env },
    });
  const held = async (): Promise<readonly [Set<string>, Set<string>]> => {
    const { owned, retained } = findStackOwnership(await service().state("dev"));
    return [owned, retained];
  };

  beforeEach(async () => {
    cloud = await startFakeCloud();
    emptyProject(cloud);
    project = new ServiceProject("stays", program, cloud.environment());
    inUse = join(project.directory, "in-use");
    await service().up("dev", bare);
  });
  afterEach(async () => {
    await cloud.close();
    project.remove();
  });

  it("remains recorded after a failed destroy, until a destroy succeeds", async () => {
    const [, [address = ""]] = await held();
    writeFileSync(inUse, "");
    await assert.rejects(service().destroy("dev"));
    const [owned, retained] = await held();
    assert.ok(!owned.has(address), "the engine has forgotten it");
    assert.deepEqual([...retained], [address]);
    rmSync(inUse);
    await service().destroy("dev");
    assert.deepEqual(await held(), [new Set(), new Set()]);
  });

  it("remains recorded after an up without the resource, and after later operations", async () => {
    const [, [address = ""]] = await held();
    const without = service({ WITHOUT: "1" });
    await without.up("dev", bare);
    await without.up("dev", { ...bare, refresh: true });
    await without.refresh("dev");
    const { changed } = await without.refresh("dev");
    assert.equal(changed, 0);
    await without.up("dev", { ...bare, expectNoChanges: true });
    const [owned, retained] = await held();
    assert.ok(!owned.has(address));
    assert.deepEqual([...retained], [address]);
  });
});
