import assert from "node:assert/strict";
import type { DecodedEngineEvent } from "../../../../automation/pulumi/events.js";
import {
  ProgramWatch,
  programWatchLimits,
} from "../../../../automation/engine/program-watchdog.js";
import { networkType, urnOf } from "../../../support/engine/fake-engine.js";

const urn = urnOf(networkType, "net");
const step = (type: "started" | "finished" | "failed"): DecodedEngineEvent => {
  const change = { urn, name: "net", type: "t", phase: undefined, operation: "create" };
  return type === "finished" ? { type, at: 0, change, id: "" } : { type, at: 0, change };
};
const message = (severity: "warning" | "error", about = ""): DecodedEngineEvent => ({
  type: "message",
  at: 0,
  urn: about,
  severity,
  text: "Unhandled exception: boom",
});

/** Program watch with a simulated clock. */
class World {
  now = 0;
  readonly signals: string[] = [];
  readonly watch = new ProgramWatch({
    now: () => this.now,
    cancel: () => this.signals.push(`cancel after ${String(this.now / 1000)} s`),
    kill: () => this.signals.push(`kill after ${String(this.now / 1000)} s`),
  });

  take(...events: readonly DecodedEngineEvent[]): this {
    for (const event of events) this.watch.processEvent(event);
    return this;
  }

  /** Advances the clock; the watch checks once a second. */
  pass(seconds: number): this {
    for (let second = 0; second < seconds; second += 1) {
      this.now += 1000;
      this.watch.checkProgram();
    }
    return this;
  }
}

describe("ProgramWatch", () => {
  it("cancels an engine that is idle after an error of the program, and then kills it", () => {
    const { signals } = new World().take(message("error")).pass(60);
    assert.deepEqual(signals, ["cancel after 10 s", "kill after 20 s"]);
    assert.deepEqual(programWatchLimits, { idle: 10_000, end: 10_000 });
  });

  it("never ends an engine without an error, however long nothing happens", () => {
    const { signals } = new World().take(message("warning"), step("started")).pass(3600);
    assert.deepEqual(signals, []);
  });

  it("waits for running resources after an error", () => {
    const world = new World().take(step("started"), message("error")).pass(3600);
    assert.deepEqual(world.signals, []);
    world.take(step("finished")).pass(10);
    assert.deepEqual(world.signals, ["cancel after 3610 s"]);
  });

  it("waits while events arrive after an error", () => {
    const world = new World().take(message("error"));
    for (let times = 0; times < 10; times += 1) world.pass(9).take(message("warning"));
    assert.deepEqual(world.signals, []);
    world.pass(10);
    assert.deepEqual(world.signals, ["cancel after 100 s"]);
  });

  it("cancels an engine that is idle after a failed resource", () => {
    const { signals } = new World().take(step("started"), step("failed")).pass(10);
    assert.deepEqual(signals, ["cancel after 10 s"]);
  });

  it("ignores an error about a resource that the provider then still creates", () => {
    const { signals } = new World()
      .take(step("started"), message("error", urn), step("finished"))
      .pass(60);
    assert.deepEqual(signals, []);
  });
});
