import assert from "node:assert/strict";
import { join } from "node:path";
import {
  createListeningService,
  type ListeningService,
} from "../../support/engine/listening-service.js";
import { getPackageRoot } from "../../../base/paths.js";
import {
  emptyProject,
  fakeProject,
  startFakeCloud,
  type FakeCloud,
} from "../../support/cloud/fake-openstack.js";
import { FakeNova } from "../support/fake-nova.js";
import { importOf, machineProgram } from "../support/machine-program.js";
import { Project, succeeded } from "../support/project.js";
import { ServiceProject } from "../support/service-project.js";

/**
 * Program that queries Nova for its machines before it starts, and optionally records that the
 * scripts of all machines have finished.
 */
const program = machineProgram({
  networkId: "network",
  imports: [
    importOf("findServers", "lookup/existing-servers.ts"),
    importOf("localContextOf", "lookup/local-context.ts"),
  ].join("\n"),
  before: `
  const operator = localContextOf(process.env);
  const found = await findServers("dev", ${JSON.stringify(fakeProject)}, operator) ?? {};
  const worked = process.env.WORKED === "yes" && { failed: false };
  const servers = Object.fromEntries(Object.entries(found).map(([name, one]) => [name, { ...one, ...worked }]));`,
  failed: "new UnreachableServers(operator, servers)",
});

describe("a server in a power state that the provider refuses", function () {
  this.timeout(300_000);
  let cloud: FakeCloud;
  let nova: FakeNova;
  let project: Project;
  /** Number of requests to the cloud when the test began. */
  let asked: number;

  before(async () => {
    cloud = await startFakeCloud();
    nova = new FakeNova(cloud);
    project = await Project.create({ program, file: "index.ts" });
    const { authUrl } = cloud;
    const place = { OS_AUTH_URL: `${authUrl}/v3`, OS_DOMAIN_NAME: "Default" };
    Object.assign(project.environment, cloud.environment(place));
  });
  beforeEach(async () => {
    project.environment["WORKED"] = "yes";
    nova.status = "ACTIVE";
    await refresh();
    succeeded(await project.up());
    asked = cloud.seen.length;
  });
  after(async () => {
    await cloud.close();
    project.remove();
  });
  const refresh = async (): Promise<string> =>
    succeeded(await project.run("refresh", "--yes", "--skip-preview", "--non-interactive"));
  const recorded = async (): Promise<unknown> =>
    (await project.resources()).find(({ type }) => type.endsWith(":Instance"))?.inputs?.[
      "powerState"
    ];
  /** Requires that a preview and an `up` change nothing. */
  const leaves = async (...more: string[]): Promise<void> => {
    const preview = ["preview", "--non-interactive", "--expect-no-changes"];
    succeeded(await project.run(...preview, ...more));
    assert.match(succeeded(await project.up(...more)), / 5 unchanged/);
    assert.deepEqual(nova.changes(asked), []);
  };

  for (const status of ["ERROR", "MIGRATING"])
    it(`does not fail an up during or after the power state: ${status}`, async () => {
      nova.status = status;
      await refresh();
      assert.equal(await recorded(), status.toLowerCase());
      await leaves();
      await refresh();
      nova.status = "ACTIVE";
      await leaves();
    });

  it("does not fail an up with --refresh", async () => {
    nova.status = "ERROR";
    await leaves("--refresh");
  });

  for (const status of ["SHUTOFF", "PAUSED"])
    it(`keeps the recorded power state if the user stopped the server: ${status}`, async () => {
      nova.status = status;
      await refresh();
      await leaves();
      nova.status = "ERROR";
      await leaves();
      assert.equal(await recorded(), status.toLowerCase());
    });

  it("is replaced if the scripts of the machine have not finished", async () => {
    nova.status = "ERROR";
    await refresh();
    project.environment["WORKED"] = "no";
    succeeded(await project.up());
    assert.equal(nova.made.length, 2);
  });
});

/** Program for the command line: only a server. */
const bareProgram = `
const pulumi = require(${JSON.stringify(join(getPackageRoot(), "node_modules/@pulumi/pulumi"))});
const openstack = require(${JSON.stringify(join(getPackageRoot(), "node_modules/@pulumi/openstack"))});
module.exports = async () => {
  const parent = new pulumi.ComponentResource("stackadm:index:Cluster", "dev");
  const server = new openstack.compute.Instance("dev-server", {
    ...{ name: "dev", imageId: "image", flavorId: "flavor", networks: [{ port: "port" }], metadata: {} },
  }, { parent, ignoreChanges: ["imageId", "imageName", "flavorId", "metadata", "powerState"] });
  return { server: server.id };
};
`;

describe("a server in a refused power state with the cluster service", function () {
  this.timeout(300_000);
  const bare = { preflight: false, verify: false } as const;
  const path = "/compute/servers";
  let cloud: FakeCloud;
  let nova: FakeNova;
  let project: ServiceProject;
  let service: ListeningService;

  before(async () => {
    cloud = await startFakeCloud();
    emptyProject(cloud);
    nova = new FakeNova(cloud);
    project = new ServiceProject("power", bareProgram, {
      ...cloud.environment({ OS_AUTH_URL: `${cloud.authUrl}/v3`, OS_DOMAIN_NAME: "Default" }),
      OS_CLOUD: undefined,
    });
    service = createListeningService(project.service);
    await service.up("dev", bare);
    nova.status = "SHELVED";
  });
  after(async () => {
    await cloud.close();
    project.remove();
  });
  const inputs = async (): Promise<object | undefined> =>
    (await service.state("dev"))?.deployment.resources?.find(({ id }) => id === nova.made[0])
      ?.inputs;

  it("is recorded without its power state by a refresh", async () => {
    await service.refresh("dev");
    assert.ok(!("powerState" in ((await inputs()) ?? {})));
    assert.deepEqual((await service.preview("dev", bare)).plan, []);
    await service.up("dev", { ...bare, expectNoChanges: true });
  });

  it("does not fail an up that follows a failed up with a refresh", async () => {
    await assert.rejects(service.up("dev", { ...bare, refresh: true }), /got shelved/);
    await service.up("dev", bare);
    await service.up("dev", { ...bare, expectNoChanges: true });
    assert.deepEqual(nova.changes(0), [`POST ${path}`]);
  });
});
