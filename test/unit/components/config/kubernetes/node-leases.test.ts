import { strict as assert } from "node:assert";
import { parseClusterSpec } from "../../../../../components/config/cluster-spec.js";
import { smallest } from "../../../../support/config/spec.js";

const problems = (over: object): string[] => {
  const result = parseClusterSpec({ ...smallest, ...over });
  return "problems" in result
    ? result.problems.map(({ path, message }) => `${path}: ${message}`)
    : [];
};
const lease = (nodeLeaseDurationSeconds: number) => ({
  kubernetes: { kubelet: { nodeLeaseDurationSeconds } },
});
const grace = (time: string) => ({
  kubernetes: { controllerManager: { extraArgs: { "node-monitor-grace-period": time } } },
});

describe("leases of nodes", () => {
  it("may be so long that two renewals fit into the time after which a node counts as lost", () => {
    assert.deepEqual(problems(lease(100)), []);
    assert.deepEqual(problems(lease(101)), [
      "cluster.kubernetes.kubelet.nodeLeaseDurationSeconds: 101 is too long: kubelet renews the lease after a quarter of it, and a node counts as lost after 50 s; write at most 100",
    ]);
  });

  it("need a grace period of two renewals", () => {
    assert.deepEqual(problems(grace("20s")), []);
    assert.deepEqual(problems(grace("19s")), [
      "cluster.kubernetes.controllerManager.extraArgs.node-monitor-grace-period: 19 s is too short: kubelet renews the lease of its node every 10 s; write at least 20s",
    ]);
  });

  it("are longer on slow machines, and so is the grace period", () => {
    assert.deepEqual(problems({ ...lease(200), timeoutFactor: 2 }), []);
    assert.equal(problems({ ...lease(201), timeoutFactor: 2 }).length, 1);
    assert.deepEqual(problems({ ...grace("40s"), timeoutFactor: 2 }), []);
    assert.equal(problems({ ...grace("39s"), timeoutFactor: 2 }).length, 1);
  });

  it("are not compared with a text that is no duration, because the component refuses it", () => {
    assert.deepEqual(problems(grace("soon")), []);
  });
});
