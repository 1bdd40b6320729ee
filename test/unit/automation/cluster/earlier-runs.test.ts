import assert from "node:assert/strict";
import {
  fallsInto,
  unsettledBy,
  type History,
} from "../../../../automation/cluster/earlier-runs.js";
import type { StateExport } from "../../../../automation/cluster/state.js";

const at = (hour: number): string => `2026-01-02T${String(hour).padStart(2, "0")}:00:00.000Z`;
const hour = (one: number): number => Date.parse(at(one));
const run = (from: number, result: string, more: Partial<History[number]> = {}) => ({
  ...{ kind: "update", result, startTime: at(from), endTime: at(from + 1) },
  ...more,
});
const stack = "pulumi:pulumi:Stack";
const state = (interrupted: boolean): StateExport => ({
  version: 3,
  deployment: {
    resources: [
      { urn: `urn:pulumi:dev::it::${stack}::it-dev`, type: stack, custom: false, created: at(1) },
    ],
    pending_operations: interrupted
      ? [{ type: "creating", resource: { urn: "urn:a::b::c::d", type: "c", custom: true } }]
      : [],
  },
});

describe("when runs were at work of which the state may not know everything", () => {
  it("never, where the last one ended well", () => {
    assert.deepEqual(unsettledBy([run(6, "succeeded"), run(4, "failed")], state(false)), []);
  });

  it("while those failed that came after the last good update, whatever else went well", () => {
    const history = [
      run(8, "failed"),
      run(6, "succeeded", { kind: "refresh" }),
      run(4, "failed"),
      run(2, "succeeded"),
    ];
    assert.deepEqual(
      unsettledBy(history, state(false)).map(({ from }) => from),
      [hour(8), hour(6), hour(4)],
    );
  });

  it("since the last one that was recorded, where the state says that one was interrupted", () => {
    assert.deepEqual(unsettledBy([run(4, "succeeded")], state(true)), [{ from: hour(5) }]);
    const repaired = unsettledBy([run(4, "succeeded")], state(false), { interrupted: true });
    assert.deepEqual(repaired, [{ from: hour(5) }]);
  });

  it("since the stack began, where its first run was interrupted", () => {
    assert.deepEqual(unsettledBy([], state(true)), [{ from: hour(1) }]);
  });

  it("takes a clock that differs by less than a minute for the same", () => {
    const stretch = [{ from: hour(4), to: hour(5) }];
    assert.equal(fallsInto("2026-01-02T03:59:30Z", stretch), true);
    assert.equal(fallsInto("2026-01-02T05:00:30Z", stretch), true);
    assert.equal(fallsInto("2026-01-02T03:58:30Z", stretch), false);
    assert.equal(fallsInto("2026-01-02T05:01:30Z", stretch), false);
    assert.equal(fallsInto("no time", stretch), false);
  });

  it("are told apart where they were to take everything away", () => {
    const runs = [run(6, "failed", { kind: "destroy" }), run(4, "succeeded")];
    const stretch = { from: hour(6), to: hour(7), destroyed: true };
    assert.deepEqual(unsettledBy(runs, state(false)), [stretch]);
    assert.deepEqual(unsettledBy([run(8, "succeeded"), ...runs], state(false)), []);
  });
});
