import assert from "node:assert/strict";
import type { ResourceEvent } from "../../../../automation/engine/operation-events.js";
import { PhaseTracker } from "../../../../automation/timeline/phase-times.js";

/** Component of the resources of each phase. */
const components = {
  network: "stackadm:network:Network",
  servers: "stackadm:machine:Machine",
  "control plane": "stackadm:kubeadm:ControlPlane",
  workers: "stackadm:kubeadm:WorkerPool",
  storage: "stackadm:addons:BlockStorage",
} as const;
type Phase = keyof typeof components;

const urnOf = (name: string, phase: Phase | undefined): string =>
  `urn:pulumi:dev::p::${phase === undefined ? "" : `${components[phase]}$`}t:t:T::${name}`;
const eventOf =
  (state: ResourceEvent["state"]) =>
  (name: string, phase?: Phase): ResourceEvent => ({
    type: "resource",
    state,
    urn: urnOf(name, phase),
    name,
    kind: "T",
    change: "create",
  });
const [started, finished, failed] = [eventOf("started"), eventOf("finished"), eventOf("failed")];
const unchanged = eventOf("unchanged");

describe("PhaseTracker", () => {
  it("measures a phase from its first resource's start to its last resource's end", () => {
    const timeline = new PhaseTracker();
    timeline.processEvent(started("a", "network"), 1000);
    timeline.processEvent(started("b", "network"), 2000);
    timeline.processEvent(finished("a", "network"), 5000);
    timeline.processEvent(started("s", "servers"), 5500);
    timeline.processEvent(finished("b", "network"), 6000);
    timeline.processEvent(finished("s", "servers"), 9000);
    assert.deepEqual(timeline.times(), [
      { phase: "network", startedAt: 1000, endedAt: 6000, resources: 2, failed: false },
      { phase: "servers", startedAt: 5500, endedAt: 9000, resources: 1, failed: false },
    ]);
  });

  it("returns running resources, the longest first", () => {
    const timeline = new PhaseTracker();
    timeline.processEvent(started("late", "control plane"), 20);
    timeline.processEvent(started("early", "control plane"), 10);
    const names = (): string[] =>
      timeline.running("control plane").map((entry) => entry.resource.name);
    assert.deepEqual(names(), ["early", "late"]);
    timeline.processEvent(finished("early", "control plane"), 30);
    assert.deepEqual(names(), ["late"]);
    assert.equal(timeline.phaseOfRunning(urnOf("late", "control plane")), "control plane");
    assert.equal(timeline.phaseOfRunning(urnOf("early", "control plane")), undefined);
  });

  it("records that a resource failed", () => {
    const timeline = new PhaseTracker();
    timeline.processEvent(started("a", "workers"), 1);
    timeline.processEvent(failed("a", "workers"), 2);
    assert.equal(timeline.times()[0]?.failed, true);
    assert.equal(timeline.countFinished("workers"), 0);
  });

  it("ignores resources without a phase and without changes", () => {
    const timeline = new PhaseTracker();
    assert.equal(timeline.processEvent(started("stack"), 1), undefined);
    assert.equal(timeline.processEvent(unchanged("a", "network"), 1), undefined);
    assert.deepEqual(timeline.times(), []);
    assert.deepEqual(timeline.running("network"), []);
    assert.equal(timeline.countFinished("network"), 0);
  });

  it("accepts the end of a resource without its start", () => {
    const timeline = new PhaseTracker();
    assert.equal(timeline.processEvent(finished("a", "storage"), 7), "storage");
    assert.deepEqual(timeline.times(), [
      { phase: "storage", startedAt: 7, endedAt: 7, resources: 1, failed: false },
    ]);
  });
});
