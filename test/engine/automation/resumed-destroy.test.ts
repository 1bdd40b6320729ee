import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import type { OperationEvent } from "../../../automation/engine/operation-events.js";
import { findClusterIdentities } from "../../../automation/pulumi/stack-state.js";
import {
  createListeningService,
  type ListeningService,
} from "../../support/engine/listening-service.js";
import { DeletableObjects } from "../../support/cloud/deletable-objects.js";
import {
  emptyProject,
  startFakeCloud,
  type FakeCloud,
} from "../../support/cloud/fake-openstack.js";
import { ServiceProject } from "../support/service-project.js";

const root = resolve(__dirname, "..", "..", "..");
const identity = "0123456789ab";

/** Event of the operation, or the request of a deletion at the cloud. */
type Point = OperationEvent | "deletion";

/** Program with a minimal cluster: its identity, and a resource with `retainOnDelete`. */
const program = `
const pulumi = require(${JSON.stringify(join(root, "node_modules/@pulumi/pulumi"))});
const command = require(${JSON.stringify(join(root, "node_modules/@pulumi/command"))});
module.exports = async () => {
  const parent = new pulumi.ComponentResource("stackadm:index:Cluster", "dev");
  const frozen = new command.local.Command("dev-frozen", { create: "true" }, { parent });
  const options = { parent, dependsOn: [frozen] };
  const identity = new command.local.Command("dev-identity", { create: "printf %s ${identity}" }, options);
  const environment = { OF: identity.stdout };
  new command.local.Command("network", { create: "true", environment }, { parent });
  new command.local.Command("kept", { create: "true", environment }, { parent, retainOnDelete: true });
};
`;

/** Program of a child process that destroys the stack and prints the events as JSON. */
const destroyInChild = `
const { createClusterService } = require(${JSON.stringify(join(root, "automation/cluster-service.ts"))});
const operation = createClusterService(JSON.parse(process.env.SERVICE)).start("destroy", "dev", {});
(async () => {
  for await (const event of operation.events()) console.log(JSON.stringify(event));
  await operation.result;
})();
`;

describe("a destroy that is killed", function () {
  this.timeout(300_000);
  let cloud: FakeCloud;
  let project: ServiceProject;
  let groups: DeletableObjects;
  const tags = ["stackadm-cluster=dev", `stackadm-identity=${identity}`];
  const service = (): ListeningService => createListeningService(project.service);

  beforeEach(async () => {
    cloud = await startFakeCloud();
    emptyProject(cloud);
    project = new ServiceProject("resumed", program, cloud.environment());
    await service().up("dev", { preflight: false, verify: false, kubeconfigFile: false });
    // A group of the cluster that is not in the state. Only the search after the engine finds it.
    const lost = { id: "g", name: "dev-lost", tags };
    groups = new DeletableObjects(cloud, "security-groups", [lost]);
  });
  afterEach(async () => {
    await cloud.close();
    project.remove();
  });

  /** Runs a destroy in a child process, and kills the child and its engines at the point. */
  const killAt = async (isPoint: (event: Point) => boolean): Promise<void> => {
    const words = ["--import", "tsx", "--input-type=commonjs", "-e", destroyInChild];
    const child = spawn(process.execPath, words, {
      cwd: root,
      env: { ...process.env, SERVICE: JSON.stringify(project.service) },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const kill = (): void => {
      child.kill("SIGKILL");
      for (const pid of project.engines()) process.kill(pid, "SIGKILL");
    };
    groups.onDelete = () => {
      if (isPoint("deletion")) kill();
    };
    const lines = createInterface({ input: child.stdout });
    lines.on("line", (line) => {
      if (isPoint(JSON.parse(line) as OperationEvent)) kill();
    });
    const [, signal] = (await once(child, "close")) as [number | null, string | null];
    assert.equal(signal, "SIGKILL", "the destroy reached the point");
  };

  const search = "Check that nothing is left in the project";
  const isStep = (event: Point, title: string, state: "begin" | "end"): boolean =>
    event !== "deletion" && event.type === "step" && event.title === title && event.state === state;
  let isDeletingStack = false;
  const points: readonly [string, (event: Point) => boolean][] = [
    ["after the engine", (event) => isStep(event, "Destroy the cluster's resources", "end")],
    ["when the search begins", (event) => isStep(event, search, "begin")],
    ["during a deletion of the search", (event) => event === "deletion"],
    ["after the search", (event) => isStep(event, search, "end")],
    [
      "while the engine deletes the identity",
      (event) => {
        if (isStep(event, "Delete the stack", "begin")) isDeletingStack = true;
        return isDeletingStack && event !== "deletion" && event.type === "resource";
      },
    ],
  ];
  for (const [when, isPoint] of points)
    it(`is completed by the next destroy: ${when}`, async () => {
      isDeletingStack = false;
      await killAt(isPoint);
      await service().destroy("dev");
      assert.deepEqual(groups.ids, []);
      assert.equal(await service().state("dev"), undefined);
      assert.ok(!existsSync(project.checkpoint));
      const { held } = await service().destroy("dev");
      assert.equal(held, false);
    });

  it("keeps the identity and its component until the search has finished", async () => {
    await killAt((event) => isStep(event, search, "begin"));
    const state = await service().state("dev");
    assert.deepEqual([...findClusterIdentities(state)], [identity]);
    const types = (state?.deployment.resources ?? []).map(({ type }) => type);
    assert.ok(types.includes("stackadm:index:Cluster"));
    // The identity, and the frozen values on which it depends.
    assert.equal(types.filter((type) => type === "command:local:Command").length, 2);
  });
});
