import assert from "node:assert/strict";
import fc from "fast-check";
import type { OperationEvent } from "../../../../../../automation/engine/operation-events.js";
import {
  begins,
  faultRunOf,
  randomNumber,
  failingCalls,
  faults,
  momentOf,
  seedsIn,
  type Call,
  type FaultRun,
} from "../../../../../lab/support/faults/seed.js";

const seeds = fc.nat({ max: 1_000_000 });
const names = Object.keys(faults);

const callsOf = (count: number): Call[] =>
  Array.from({ length: count }, (_, index) => ({
    number: index + 1,
    ...(index % 2 === 0 ? { write: index / 2 + 1, method: "POST" } : { method: "GET" }),
  }));

describe("values drawn from a seed", () => {
  it("are the same for the same seed", () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        assert.deepEqual(faultRunOf(seed), faultRunOf(seed));
      }),
    );
  });

  it("differ for another seed", () => {
    const moments = Array.from({ length: 200 }, (_, seed) => faultRunOf(seed).at);
    assert.equal(new Set(moments).size, 200);
  });

  it("are evenly distributed", () => {
    const tenths = Array.from({ length: 10 }, () => 0);
    for (let seed = 0; seed < 2000; seed++) {
      const tenth = Math.floor(randomNumber(seed, "at") * 10);
      tenths[tenth] = (tenths[tenth] ?? 0) + 1;
    }
    // 2000 draws in ten intervals give about 200 each; 80 is six standard deviations.
    for (const count of tenths) assert.ok(Math.abs(count - 200) < 80, tenths.join(" "));
  });

  it("include every fault for consecutive seeds", () => {
    fc.assert(
      fc.property(seeds, (first) => {
        const found = names.map((_, index) => faultRunOf(first + index).fault);
        assert.deepEqual([...found].sort(), [...names].sort());
      }),
    );
  });
});

describe("moment of a fault", () => {
  it("is one of the expected moments", () => {
    fc.assert(
      fc.property(seeds, fc.integer({ min: 1, max: 500 }), (seed, count) => {
        const moment = momentOf(faultRunOf(seed), count);
        assert.ok(Number.isInteger(moment) && moment >= 1 && moment <= count, String(moment));
      }),
    );
  });

  it("is the first moment if none is expected", () => {
    assert.equal(momentOf({ at: 0.9 }, 0), 1);
  });
});

describe("resource that the engine begins with", () => {
  const event = (type: string, state: "started" | "finished" = "started"): OperationEvent => ({
    v: 1,
    operation: "id",
    n: 1,
    at: "2026-01-01T00:00:00Z",
    stack: "random",
    type: "resource",
    state,
    urn: `urn:pulumi:random::stackadm::stackadm:index:Cluster$${type}::name`,
    name: "name",
    kind: type,
    change: "create",
  });
  const remote = "command:remote:Command";
  const network = "openstack:networking/network:Network";

  for (const [counted, type, expected] of [
    ["all", network, true],
    ["all", "command:local:Command", true],
    ["all", "pulumi:providers:openstack", false],
    ["of the machines", remote, true],
    ["of the machines", "kubernetes:apps/v1:Deployment", true],
    ["of the machines", "command:local:Command", false],
    ["of the machines", network, false],
    ["of the cloud", network, true],
    ["of the cloud", remote, false],
  ] as const)
    it(`counts${expected ? "" : " not"} as one ${counted}: ${type}`, () => {
      assert.equal(begins(event(type), counted), expected);
    });

  it("counts once", () => {
    assert.equal(begins(event(network, "finished"), "all"), false);
  });
});

describe("faulty cloud request", () => {
  const draw = (fault: FaultRun["fault"]): FaultRun => ({ seed: 7, fault, at: 0.5, which: 0 });
  const failed = (fault: FaultRun["fault"], count: number) => {
    const decide = failingCalls(draw(fault), 20);
    return callsOf(count).flatMap((call) => {
      const way = decide(call);
      return way === undefined ? [] : [{ call, way }];
    });
  };

  for (const [fault, way] of [
    ["409", 409],
    ["500", 500],
    ["503", 503],
    ["lost", "lost"],
  ] as const)
    it(`fails by ${fault}, for one write and once`, () => {
      assert.deepEqual(failed(fault, 100), [
        { call: { number: 21, write: 11, method: "POST" }, way },
      ]);
    });

  it("fails in 5 of 100 cases with many faults, repeatably, and reads never with 409", () => {
    const found = failed("many", 4000);
    assert.ok(found.length > 140 && found.length < 260, String(found.length));
    assert.deepEqual(failed("many", 4000), found);
    assert.deepEqual(new Set(found.map(({ way }) => way)), new Set([409, 500, 503, "lost"]));
    assert.ok(found.every(({ way, call }) => way !== 409 || call.write !== undefined));
  });

  it("fails by no other fault", () => {
    assert.deepEqual(failed("engine", 100), []);
  });
});

describe("seeds of the runs", () => {
  it("follow the named seed", () => {
    const env = { STACKADM_RANDOM_RUNS: "3", STACKADM_RANDOM_SEED: "41" };
    assert.deepEqual(seedsIn(env), [41, 42, 43]);
  });

  it("are one random seed by default", () => {
    const many = Array.from({ length: 20 }, () => seedsIn({}));
    assert.ok(many.every((found) => found.length === 1));
    assert.ok(new Set(many.flat()).size > 1);
  });

  it("are three in CI by default", () => {
    assert.equal(seedsIn({ CI: "true" }).length, 3);
    assert.equal(seedsIn({ CI: "true", STACKADM_RANDOM_RUNS: "1" }).length, 1);
  });

  for (const [name, value] of [
    ["STACKADM_RANDOM_RUNS", "0"],
    ["STACKADM_RANDOM_RUNS", "many"],
    ["STACKADM_RANDOM_SEED", "-1"],
    ["STACKADM_RANDOM_SEED", "1.5"],
  ] as const)
    it(`are refused: ${name}=${value}`, () => {
      assert.throws(() => seedsIn({ [name]: value }), new RegExp(`${name}: '${value}'`));
    });
});
