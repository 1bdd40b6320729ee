import { strict as assert } from "node:assert";
import fc from "fast-check";
import { getAddonArguments } from "../../../../components/addons/addon-arguments.js";
import { countAttachableVolumes, planMachineVolumes } from "../../../../components/plan/volumes.js";
import { specOf } from "../../../support/config/spec.js";

const disk = fc.option(fc.constant({ size: 5 }), { nil: undefined });
const written = fc.record({ rootVolume: disk, runtimeVolume: disk, etcdVolume: disk });
const machine = written.map((group) => ({
  volumes: planMachineVolumes({ name: "m", zone: undefined }, {}, group),
}));

describe("countAttachableVolumes", () => {
  it("returns the rest of 25 slots on the node with the fewest free slots", () => {
    fc.assert(
      fc.property(fc.array(machine, { maxLength: 6 }), fc.constantFrom(1, 2), (all, interfaces) => {
        const left = countAttachableVolumes(all, interfaces);
        for (const { volumes } of all) {
          const own = volumes.some(({ purpose }) => purpose === "root") ? 0 : 1;
          assert.ok(left + volumes.length + own + interfaces - 1 <= 25);
        }
        const most = countAttachableVolumes([], interfaces);
        assert.ok(left <= most && left >= most - 2);
      }),
    );
  });

  it("ignores machines that are not nodes", () => {
    const of = (over: object): number | undefined =>
      getAddonArguments(specOf({ name: "dev", ...over })).blockStorage.attachable;
    const volume = { size: 5 };
    assert.equal(of({}), 24);
    assert.equal(of({ controlPlane: { flavor: "m", rootVolume: volume } }), 24);
    const both = { etcdVolume: volume, runtimeVolume: volume };
    assert.equal(of({ controlPlane: { flavor: "m", ...both } }), 22);
    assert.equal(of({ etcd: { kind: "dedicated", flavor: "m", ...both } }), 24);
    const admin = { network: "ops", allowedCidrs: ["10.9.0.0/24"] };
    assert.equal(of({ network: { nodes: "10.1.0.0/24", admin } }), 23);
    const pool = { flavor: "m", count: 2, nodes: { 1: { runtimeVolume: volume } } };
    assert.equal(of({ workers: { general: pool } }), 23);
  });
});
