import assert from "node:assert/strict";
import type { ClusterEvent, ResourceChange } from "../../../../automation/pulumi/events.js";
import type { Phase } from "../../../../automation/pulumi/phases.js";
import { Timeline } from "../../../../automation/timeline/phase-times.js";

const change = (name: string, phase: Phase | undefined): ResourceChange => ({
  urn: `urn:pulumi:dev::p::t::${name}`,
  name,
  type: "T",
  phase,
  operation: "create",
});
const started = (name: string, phase?: Phase): ClusterEvent => ({
  type: "started",
  at: 0,
  change: change(name, phase),
});
const finished = (name: string, phase?: Phase): ClusterEvent => ({
  type: "finished",
  at: 0,
  change: change(name, phase),
  id: "",
});
const failed = (name: string, phase?: Phase): ClusterEvent => ({
  type: "failed",
  at: 0,
  change: change(name, phase),
});

describe("the timeline of an operation", () => {
  it("measures a phase from its first resource's start to its last one's end", () => {
    const timeline = new Timeline();
    timeline.take(started("a", "network"), 1000);
    timeline.take(started("b", "network"), 2000);
    timeline.take(finished("a", "network"), 5000);
    timeline.take(started("s", "servers"), 5500);
    timeline.take(finished("b", "network"), 6000);
    timeline.take(finished("s", "servers"), 9000);
    assert.deepEqual(timeline.times(), [
      { phase: "network", startedAt: 1000, endedAt: 6000, resources: 2, failed: false },
      { phase: "servers", startedAt: 5500, endedAt: 9000, resources: 1, failed: false },
    ]);
  });

  it("knows what runs, the longest first", () => {
    const timeline = new Timeline();
    timeline.take(started("late", "boot"), 20);
    timeline.take(started("early", "boot"), 10);
    const names = (): string[] => timeline.running("boot").map((entry) => entry.change.name);
    assert.deepEqual(names(), ["early", "late"]);
    timeline.take(finished("early", "boot"), 30);
    assert.deepEqual(names(), ["late"]);
    assert.equal(timeline.phaseOfRunning(change("late", "boot").urn), "boot");
    assert.equal(timeline.phaseOfRunning(change("early", "boot").urn), undefined);
  });

  it("remembers that something failed", () => {
    const timeline = new Timeline();
    timeline.take(started("a", "workers"), 1);
    timeline.take(failed("a", "workers"), 2);
    assert.equal(timeline.times()[0]?.failed, true);
    assert.equal(timeline.finished("workers"), 0);
  });

  it("passes over what has no phase and what changes nothing", () => {
    const timeline = new Timeline();
    assert.equal(timeline.take(started("stack"), 1), undefined);
    assert.equal(timeline.take({ type: "log", at: 0, urn: "", text: "x" }, 1), undefined);
    assert.deepEqual(timeline.times(), []);
    assert.deepEqual(timeline.running("network"), []);
    assert.equal(timeline.finished("network"), 0);
  });

  it("takes the end of something whose start it did not see", () => {
    const timeline = new Timeline();
    assert.equal(timeline.take(finished("a", "storage"), 7), "storage");
    assert.deepEqual(timeline.times(), [
      { phase: "storage", startedAt: 7, endedAt: 7, resources: 1, failed: false },
    ]);
  });
});
