import { strict as assert } from "node:assert";
import fc from "fast-check";
import { getZoneAtPosition } from "../../../../components/plan/cluster-plan.js";
import { planMachineVolumes } from "../../../../components/plan/volumes.js";

describe("getZoneAtPosition", () => {
  it("returns no zone if the user names none", () => {
    assert.equal(getZoneAtPosition([], 3), undefined);
  });

  it("spreads machines so that no zone has two more than another", () => {
    const zones = fc.uniqueArray(fc.stringMatching(/^[a-z]{1,8}$/), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(zones, fc.integer({ min: 1, max: 30 }), (names, count) => {
        const used = Array.from({ length: count }, (_, position) =>
          getZoneAtPosition(names, position),
        );
        const sizes = names.map((name) => used.filter((zone) => zone === name).length);
        assert.ok(Math.max(...sizes) - Math.min(...sizes) <= 1);
      }),
    );
  });
});

describe("zones of volumes", () => {
  const names = fc.stringMatching(/^[a-z-]{1,8}$/);
  const zoneOf = (written: string | undefined, zone: string | undefined) =>
    planMachineVolumes({ name: "m", zone }, {}, { etcdVolume: { size: 1, zone: written } })[0]
      ?.zone;

  it("are the written ones, with the machine's zone for the placeholder", () => {
    fc.assert(
      fc.property(names, names, (zone, name) => {
        assert.equal(zoneOf("{zone}", zone), zone);
        assert.equal(zoneOf(`${name}-{zone}`, zone), `${name}-${zone}`);
        assert.equal(zoneOf(name, zone), name);
      }),
    );
  });

  it("are left to Cinder if none is written, for a machine in any zone", () => {
    fc.assert(
      fc.property(fc.option(names, { nil: undefined }), (zone) => {
        assert.equal(zoneOf(undefined, zone), undefined);
      }),
    );
  });

  it("are the group's for a machine without its own zones", () => {
    const disk = { size: 1, zone: "{zone}" };
    const volumes = planMachineVolumes(
      { name: "m", zone: "a" },
      { rootVolume: { size: 2, zone: "b" } },
      { rootVolume: disk, etcdVolume: disk },
    );
    assert.deepEqual(
      volumes.map(({ name, zone }) => [name, zone]),
      [
        ["m-root", "b"],
        ["m-etcd", "a"],
      ],
    );
  });
});
