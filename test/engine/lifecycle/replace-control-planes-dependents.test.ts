import assert from "node:assert/strict";
import { startFakeCloud, type FakeCloud } from "../../support/cloud/fake-openstack.js";
import { recordedState } from "../../support/engine/record-state.js";
import { recordedStates, type RecordedCluster } from "../../support/engine/recorded-cluster.js";
import type { Project } from "../support/project.js";
import { holding, previewOf } from "../support/recorded.js";

/** Returns the cluster of the last recorded release, with three control planes. */
const clusterOf = (
  endpoint: RecordedCluster["args"]["endpoint"],
  generation?: number,
): RecordedCluster => {
  const recorded = recordedStates().at(-1);
  assert.ok(recorded);
  const { args, cloud } = recorded;
  const controlPlane = { ...args.controlPlane, count: 3, generation };
  return { args: { ...args, endpoint, controlPlane }, cloud };
};

for (const kind of ["floating-ip", "load-balancer", "virtual-ip"] as const)
  describe(`the replacement of control planes in a cluster with ${kind}`, function () {
    this.timeout(600_000);
    let cloud: FakeCloud;
    let project: Project;

    before(async () => {
      cloud = await startFakeCloud();
      ({ project } = await holding(await recordedState(clusterOf({ kind })), cloud));
    });
    after(async () => {
      project.remove();
      await cloud.close();
    });

    it("replaces only servers and leave scripts", async () => {
      const { steps } = await previewOf(project, clusterOf({ kind }, 1));
      const changed = steps.filter(({ op }) => !["same", "update"].includes(op));
      assert.deepEqual(
        [...new Set(changed.map(({ urn }) => urn.split("::").at(-1)))].sort(),
        [0, 1, 2].flatMap((position) =>
          ["leave", "server"].map((part) => `dev-control-plane-${String(position)}-${part}`),
        ),
      );
    });
  });
