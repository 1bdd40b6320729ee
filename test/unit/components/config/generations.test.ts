import { strict as assert } from "node:assert";
import { planCluster } from "../../../../components/plan/cluster-plan.js";
import { getGenerationsToRecord } from "../../../../components/plan/replacements.js";
import {
  findFrozenValueChanges,
  renderFrozenValues,
  hasChangedGeneration,
} from "../../../../components/config/immutable-fields.js";
import { specOf } from "../../../support/config/spec.js";

describe("recorded generations", () => {
  const keptOf = (over: Parameters<typeof specOf>[0]) =>
    getGenerationsToRecord(planCluster(specOf(over)));
  const kept = (generation: number | undefined, over: object = {}) =>
    keptOf({ controlPlane: { flavor: "medium", generation, ...over } });

  it("contain those of each control plane, the bastion and etcd, unless all are 0", () => {
    assert.deepEqual(kept(undefined), {});
    assert.deepEqual(kept(0, { count: 3 }), {});
    assert.deepEqual(kept(2, { count: 3 }), { "controlPlane.generation": "2 2 2" });
    const one = { count: 3, nodes: { "1": { generation: 4 } } };
    assert.deepEqual(kept(0, one), { "controlPlane.generation": "0 4 0" });
    const bastion = (generation: number) =>
      keptOf({ access: "bastion", bastion: { flavor: "tiny", generation } });
    assert.deepEqual([bastion(0), bastion(3)], [{}, { "bastion.generation": "3" }]);
    const etcd = (generation: number, over: object = {}) =>
      keptOf({ etcd: { kind: "dedicated", flavor: "medium", generation, ...over } });
    assert.deepEqual([etcd(0), etcd(3)], [{}, { "etcd.generation": "3 3 3" }]);
    assert.deepEqual(etcd(0, { nodes: { "2": { generation: 1 } } }), {
      "etcd.generation": "0 0 1",
    });
  });

  it("count as changed if one changes, appears or disappears, or the number of control planes changes", () => {
    const [none, one, three] = [kept(0), kept(1), kept(1, { count: 3 })];
    assert.ok(hasChangedGeneration(none, one) && hasChangedGeneration(one, none));
    assert.ok(hasChangedGeneration(three, one));
    assert.ok(!hasChangedGeneration(three, { ...three, "network.pods": "another" }));
  });

  it("are not frozen values and are not sent to machines, so that no script runs again", () => {
    const [before, now] = [kept(1, { count: 3 }), kept(2, { count: 3 })];
    assert.deepEqual(findFrozenValueChanges(before, now), []);
    assert.equal(renderFrozenValues({ ...now, a: "1" }), "a 1");
  });
});
