import assert from "node:assert/strict";
import {
  isWithinPeriods,
  findUnrecordedRunPeriods,
  type StackHistory,
} from "../../../../automation/pulumi/run-history.js";
import type { StateExport } from "../../../../automation/pulumi/stack-state.js";

const at = (hour: number): string => `2026-01-02T${String(hour).padStart(2, "0")}:00:00.000Z`;
const hour = (one: number): number => Date.parse(at(one));
const run = (from: number, result: string, more: Partial<StackHistory[number]> = {}) => ({
  kind: "update",
  result,
  startTime: at(from),
  endTime: at(from + 1),
  ...more,
});
const stack = "pulumi:pulumi:Stack";
/**
 * Returns a state of a stack that was created at 01:00. `written` is the time of the last write by
 * a killed engine.
 */
const state = (written?: number): StateExport => ({
  version: 3,
  deployment: {
    ...(written !== undefined && { manifest: { time: at(written) } }),
    resources: [
      { urn: `urn:pulumi:dev::it::${stack}::it-dev`, type: stack, custom: false, created: at(1) },
    ],
    pending_operations:
      written === undefined
        ? []
        : [{ type: "creating", resource: { urn: "urn:a::b::c::d", type: "c", custom: true } }],
  },
});
/** Returns the latest time at which a pending create of that state may have started. */
const end = (written: number): number => hour(written) + 30 * 60_000;
const atMost = (from: number, written: number) => ({
  from: hour(from),
  to: end(written),
  atMost: true,
});

describe("findUnrecordedRunPeriods", () => {
  it("returns nothing if the last run succeeded", () => {
    const history = [run(6, "succeeded"), run(4, "failed")];
    assert.deepEqual(findUnrecordedRunPeriods({ history }, state()), []);
  });

  it("returns the runs that failed after the last successful update; a refresh does not count", () => {
    const history = [
      run(8, "failed"),
      run(6, "succeeded", { kind: "refresh" }),
      run(4, "failed"),
      run(2, "succeeded"),
    ];
    assert.deepEqual(
      findUnrecordedRunPeriods({ history }, state()).map(({ from }) => from),
      [hour(8), hour(4)],
    );
  });

  it("returns an upper bound from the last success until a create times out if the state has a pending create", () => {
    const runs = { history: [run(4, "succeeded")] };
    assert.deepEqual(findUnrecordedRunPeriods(runs, state(7)), [atMost(5, 7)]);
    assert.deepEqual(findUnrecordedRunPeriods(runs, state(), { interrupted: state(7) }), [
      atMost(5, 7),
    ]);
  });

  it("returns the exact period of an unrecorded `up` of this machine until the state was written", () => {
    const runs = { history: [run(4, "succeeded")], begun: { from: hour(6) } };
    const surely = { from: hour(6), to: hour(7) };
    assert.deepEqual(findUnrecordedRunPeriods(runs, state(7)), [surely, atMost(5, 7)]);
    const before = findUnrecordedRunPeriods({ ...runs, begun: { from: hour(4) } }, state(7));
    assert.deepEqual(before, [atMost(5, 7)], "that one was recorded, and another's was not");
    const ended = { from: hour(6), to: hour(6) + 1 };
    const copied = findUnrecordedRunPeriods({ ...runs, begun: ended }, state(7));
    assert.deepEqual(copied, [atMost(5, 7)], "the run ended, so it is not the one");
  });

  it("returns only the upper bound if a later run failed and kept the pending create", () => {
    const last = run(8, "failed");
    const runs = { history: [last, run(4, "succeeded")], begun: { from: hour(6) } };
    const failed = { from: hour(8), to: hour(9), ended: true };
    assert.deepEqual(findUnrecordedRunPeriods(runs, state(9)), [failed, atMost(5, 9)]);
  });

  it("starts with the stack's creation if the first run was interrupted", () => {
    assert.deepEqual(findUnrecordedRunPeriods({ history: [] }, state(2)), [atMost(1, 2)]);
    const first = { history: [], begun: { from: hour(1) - 2_000 } };
    assert.deepEqual(findUnrecordedRunPeriods(first, state(2)), [
      { from: hour(1) - 2_000, to: hour(2) },
      atMost(1, 2),
    ]);
  });

  it("returns only the upper bound if a later refresh kept the pending create", () => {
    const refresh = run(8, "succeeded", { kind: "refresh" });
    const runs = { history: [refresh, run(4, "succeeded")], begun: { from: hour(6) } };
    assert.deepEqual(findUnrecordedRunPeriods(runs, state(9)), [atMost(5, 9)]);
  });

  it("returns nothing if the state has no time of writing", () => {
    const { deployment } = state(7);
    for (const manifest of [undefined, {}, { time: "0001-01-01T00:00:00Z" }]) {
      const silent = { version: 3, deployment: { ...deployment, manifest } };
      assert.deepEqual(findUnrecordedRunPeriods({ history: [run(4, "succeeded")] }, silent), []);
    }
  });

  it("tolerates clocks that differ by less than a minute", () => {
    const stretch = [{ from: hour(4), to: hour(5) }];
    assert.equal(isWithinPeriods("2026-01-02T03:59:30Z", stretch), true);
    assert.equal(isWithinPeriods("2026-01-02T05:00:30Z", stretch), true);
    assert.equal(isWithinPeriods("2026-01-02T03:58:30Z", stretch), false);
    assert.equal(isWithinPeriods("2026-01-02T05:01:30Z", stretch), false);
    assert.equal(isWithinPeriods("no time", stretch), false);
  });

  it("uses the tolerance that the caller passes", () => {
    const stretch = [{ from: hour(4), to: hour(5) }];
    assert.equal(isWithinPeriods(at(4), stretch, 0), true);
    assert.equal(isWithinPeriods(at(5), stretch, 0), true);
    assert.equal(isWithinPeriods("2026-01-02T03:59:59Z", stretch, 0), false);
    assert.equal(isWithinPeriods("2026-01-02T05:00:01Z", stretch, 0), false);
  });

  it("marks failed destroys, until a later run succeeds", () => {
    const runs = [run(6, "failed", { kind: "destroy" }), run(4, "succeeded")];
    const stretch = { from: hour(6), to: hour(7), destroyed: true };
    assert.deepEqual(findUnrecordedRunPeriods({ history: runs }, state()), [stretch]);
    assert.deepEqual(
      findUnrecordedRunPeriods({ history: [run(8, "succeeded"), ...runs] }, state()),
      [],
    );
  });
});
