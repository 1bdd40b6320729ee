import { strict as assert } from "node:assert";
import { longestCreateDelay } from "../../../automation/pulumi/run-history.js";
import { smallest } from "../../support/config/spec.js";
import { clusterRows } from "../../support/graph/cluster-rows.js";

describe("the create timeouts of cloud resources", () => {
  it("are at most the time for which repair expects a pending create", async () => {
    const rows = await clusterRows({
      ...smallest,
      controlPlane: { ...smallest.controlPlane, rootVolume: { size: 20 } },
      topology: "ha",
    });
    const limits = rows
      .filter(({ type, timeouts }) => type.startsWith("openstack:") && timeouts.create !== "")
      .map(({ type, timeouts }) => [type.split(":").at(-1), timeouts.create] as const);
    assert.deepEqual([...new Set(limits.map(([type]) => type))].sort(), [
      "Instance",
      "Listener",
      "LoadBalancer",
      "Member",
      "Monitor",
      "Pool",
      "Volume",
    ]);
    for (const [type, limit] of limits)
      assert.ok(Number(/^(\d+)m$/.exec(limit)?.[1]) * 60_000 <= longestCreateDelay, type);
  });
});
