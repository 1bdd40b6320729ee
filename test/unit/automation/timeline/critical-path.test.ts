import { strict as assert } from "node:assert";
import fc from "fast-check";
import {
  findCriticalPath,
  SpanCollector,
  createTimelineRows,
  type Span,
} from "../../../../automation/timeline/critical-path.js";
import type { StateExport } from "../../../../automation/pulumi/stack-state.js";

const urn = (name: string): string => `urn:pulumi:dev::p::t:i:T::${name}`;
const span = (name: string, startedAt: number, endedAt: number, operation = "create"): Span => ({
  urn: urn(name),
  name,
  type: "T",
  phase: undefined,
  operation,
  startedAt,
  endedAt,
});
/** Returns a state in which each resource depends on those that are listed. */
const stateOf = (waiting: Readonly<Record<string, readonly string[]>>): StateExport => ({
  version: 3,
  deployment: {
    resources: Object.entries(waiting).map(([name, names]) => ({
      urn: urn(name),
      type: "t:i:T",
      custom: true,
      dependencies: names.map(urn),
    })),
  },
});
const names = (spans: readonly Span[]): string[] => spans.map(({ name }) => name);

describe("findCriticalPath", () => {
  it("returns for the last resource the chain of dependencies that ended last", () => {
    const spans = [
      ...[span("net", 0, 10), span("key", 0, 3), span("server", 10, 50), span("volume", 10, 20)],
      ...[span("join", 51, 90), span("label", 60, 70)],
    ];
    const state = stateOf({
      net: [],
      key: [],
      server: ["net", "key"],
      volume: ["net"],
      join: ["server", "volume"],
      label: ["server"],
    });
    assert.deepEqual(names(findCriticalPath(spans, state)), ["net", "server", "join"]);
    const critical = createTimelineRows(spans, state).filter((row) => row.critical);
    assert.deepEqual(names(critical), ["net", "server", "join"]);
  });

  it("passes through unchanged resources and the provider", () => {
    const spans = [span("init", 0, 40), span("pod", 41, 60)];
    const still = stateOf({ init: [], same: ["init"], pod: ["same"] });
    assert.deepEqual(names(findCriticalPath(spans, still)), ["init", "pod"]);
    const by = stateOf({ init: [], kubernetes: ["init"], pod: [] });
    const resources = by.deployment.resources?.map((one) =>
      one.urn === urn("pod") ? { ...one, provider: `${urn("kubernetes")}::0b1c` } : one,
    );
    assert.deepEqual(names(findCriticalPath(spans, { ...by, deployment: { resources } })), [
      "init",
      "pod",
    ]);
  });

  it("omits a dependency that still ran when the next resource started", () => {
    const spans = [span("early", 0, 10), span("late", 0, 90), span("end", 20, 100)];
    const state = stateOf({ early: [], late: [], end: ["early", "late"] });
    assert.deepEqual(names(findCriticalPath(spans, state)), ["early", "end"]);
  });

  it("returns nothing without spans, and only the last span without a state", () => {
    assert.deepEqual(findCriticalPath([], undefined), []);
    assert.deepEqual(names(findCriticalPath([span("a", 0, 1), span("b", 0, 2)], undefined)), ["b"]);
  });

  it("terminates and returns links in order of time for any dependencies", () => {
    const index = fc.nat(7);
    const lists = fc.array(fc.tuple(index, index, fc.nat(500), fc.nat(500)), { maxLength: 30 });
    fc.assert(
      fc.property(lists, (drawn) => {
        const waiting: Record<string, string[]> = {};
        for (const [one, other] of drawn) (waiting[`r${one}`] ??= []).push(`r${other}`);
        const spans = drawn.map(([one, , at, took]) => span(`r${one}`, at, at + took));
        const path = findCriticalPath(spans, stateOf(waiting));
        assert.equal(new Set(path).size, path.length);
        for (const [at, link] of path.slice(1).entries())
          assert.ok((path[at]?.endedAt ?? 0) <= link.startedAt + 50);
      }),
    );
  });
});

describe("SpanCollector", () => {
  const change = (name: string, operation = "create") => ({
    urn: urn(name),
    name,
    type: "T",
    phase: undefined,
    operation,
  });

  it("returns one span per finished operation of a resource", () => {
    const spans = new SpanCollector();
    spans.processEvent({ type: "started", at: 0, change: change("a", "create-replacement") }, 5);
    spans.processEvent({ type: "started", at: 0, change: change("b") }, 6);
    spans.processEvent(
      { type: "finished", at: 0, id: "1", change: change("a", "create-replacement") },
      9,
    );
    spans.processEvent({ type: "started", at: 0, change: change("a", "delete-replaced") }, 10);
    spans.processEvent(
      { type: "finished", at: 0, id: "1", change: change("a", "delete-replaced") },
      12,
    );
    spans.processEvent({ type: "failed", at: 0, change: change("b") }, 13);
    assert.deepEqual(spans.all(), [
      span("a", 5, 9, "create-replacement"),
      span("a", 10, 12, "delete-replaced"),
    ]);
  });
});
