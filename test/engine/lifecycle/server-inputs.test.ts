import assert from "node:assert/strict";
import { FakeProject } from "../../../packages/bench/support/scale/fake-openstack-project.js";
import { startFakeCloud, type FakeCloud } from "../../support/cloud/fake-openstack.js";
import { machineProgram } from "../support/machine-program.js";
import { Project, succeeded } from "../support/project.js";

describe("the recorded inputs of a server", function () {
  this.timeout(120_000);
  let cloud: FakeCloud;
  let project: Project;

  before(async () => {
    const outside = { machines: "203.0.113.1", balancer: "203.0.113.2" };
    const fake = new FakeProject(outside, { id: "e", name: "public", subnets: [] });
    cloud = await startFakeCloud({ otherwise: (request) => fake.answer(request) });
    cloud.on("GET /compute/flavors/flavor", { body: { flavor: { id: "flavor", name: "f" } } });
    cloud.on("GET /image/v2/images/image", { body: { id: "image", name: "i" } });
    project = await Project.create({
      program: machineProgram({ networkId: "e" }),
      file: "index.ts",
    });
    const place = { OS_AUTH_URL: `${cloud.authUrl}/v3`, OS_DOMAIN_NAME: "Default" };
    Object.assign(project.environment, cloud.environment(place));
  });
  after(async () => {
    await cloud.close();
    project.remove();
  });
  const inputs = async (): Promise<unknown> =>
    (await project.resources()).find(({ type }) => type.endsWith(":Instance"))?.inputs;

  /**
   * The engine rewrites the whole state for each resource with changed inputs, even without an
   * operation.
   */
  it("remain the same after an up without changes, including defaults", async () => {
    succeeded(await project.up());
    const made = await inputs();
    assert.ok(made);
    assert.match(succeeded(await project.up()), / unchanged/);
    assert.deepEqual(await inputs(), made);
  });
});
