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
/** A stack that began to be at one o'clock. `written`: when an engine wrote it that was killed. */
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
/** No create that the state says to be in the making may begin later. */
const end = (written: number): number => hour(written) + 20 * 60_000;

describe("when runs were at work of which the state may not know everything", () => {
  it("never, where the last one ended well", () => {
    const history = [run(6, "succeeded"), run(4, "failed")];
    assert.deepEqual(unsettledBy({ history }, state()), []);
  });

  it("while those failed that came after the last good update; a refresh neither makes nor settles anything", () => {
    const history = [
      run(8, "failed"),
      run(6, "succeeded", { kind: "refresh" }),
      run(4, "failed"),
      run(2, "succeeded"),
    ];
    assert.deepEqual(
      unsettledBy({ history }, state()).map(({ from }) => from),
      [hour(8), hour(4)],
    );
  });

  it("at most since the last one that was recorded, until no create can last any more, where the state says that one was interrupted", () => {
    const runs = { history: [run(4, "succeeded")] };
    const stretch = { from: hour(5), to: end(7), atMost: true };
    assert.deepEqual(unsettledBy(runs, state(7)), [stretch]);
    assert.deepEqual(unsettledBy(runs, state(), { interrupted: state(7) }), [stretch]);
  });

  it("certainly since the one of ours began that nobody recorded, until the state was written", () => {
    const runs = { history: [run(4, "succeeded")], begun: hour(6) };
    const surely = { from: hour(6), to: hour(7) };
    const stretch = { from: hour(5), to: end(7), atMost: true };
    assert.deepEqual(unsettledBy(runs, state(7)), [surely, stretch]);
    const ours = unsettledBy({ ...runs, begun: hour(4) }, state(7));
    assert.deepEqual(ours, [stretch], "it ended well, and it was another's that did not");
  });

  it("since the stack began, where its first run was interrupted", () => {
    const stretch = { from: hour(1), to: end(2), atMost: true };
    assert.deepEqual(unsettledBy({ history: [] }, state(2)), [stretch]);
    const first = { history: [], begun: hour(1) - 2_000 };
    assert.deepEqual(unsettledBy(first, state(2)), [
      { from: hour(1) - 2_000, to: hour(2) },
      stretch,
    ]);
  });

  it("as before, where only a refresh came since, which keeps what is in the making", () => {
    const refresh = run(8, "succeeded", { kind: "refresh" });
    const runs = { history: [refresh, run(4, "succeeded")], begun: hour(6) };
    assert.deepEqual(unsettledBy(runs, state(9)), [{ from: hour(5), to: end(9), atMost: true }]);
  });

  it("never that could be told, where the state does not say when it was written", () => {
    const { deployment } = state(7);
    for (const manifest of [undefined, {}, { time: "0001-01-01T00:00:00Z" }]) {
      const silent = { version: 3, deployment: { ...deployment, manifest } };
      assert.deepEqual(unsettledBy({ history: [run(4, "succeeded")] }, silent), []);
    }
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
    assert.deepEqual(unsettledBy({ history: runs }, state()), [stretch]);
    assert.deepEqual(unsettledBy({ history: [run(8, "succeeded"), ...runs] }, state()), []);
  });
});
