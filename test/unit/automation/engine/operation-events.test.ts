import assert from "node:assert/strict";
import {
  convertEngineEvent,
  EventStream,
  type OperationEvent,
} from "../../../../automation/engine/operation-events.js";
import { urnOf } from "../../../support/engine/fake-engine.js";

describe("EventStream", () => {
  const head = { operation: "one", stack: "dev" };
  const log = (text: string) => ({ type: "log", text }) as const;
  const all = async (events: AsyncIterable<OperationEvent>): Promise<OperationEvent[]> => {
    const seen: OperationEvent[] = [];
    for await (const event of events) seen.push(event);
    return seen;
  };

  it("numbers the events from 1, with version, time, operation and stack", async () => {
    const stream = new EventStream(head, () => Date.parse("2026-01-01T00:00:00Z"));
    stream.add(log("a"));
    stream.add({ type: "done", ok: true });
    const common = { v: 1, ...head, at: "2026-01-01T00:00:00.000Z" };
    assert.deepEqual(await all(stream.after()), [
      { ...common, n: 1, type: "log", text: "a" },
      { ...common, n: 2, type: "done", ok: true },
    ]);
  });

  it("sends a late reader all events after the one that the reader names", async () => {
    const stream = new EventStream(head);
    for (const text of ["a", "b"]) stream.add(log(text));
    stream.add({ type: "done", ok: true });
    const numbers = (await all(stream.after(1))).map(({ n }) => n);
    assert.deepEqual(numbers, [2, 3]);
    assert.deepEqual(await all(stream.after(3)), []);
  });

  it("wakes every waiting reader at the next event", async () => {
    const stream = new EventStream(head);
    const readers = [all(stream.after()), all(stream.after())];
    await Promise.resolve();
    stream.add(log("a"));
    await new Promise((later) => setImmediate(later));
    stream.add({ type: "done", ok: false });
    const types = (await Promise.all(readers)).map((seen) => seen.map(({ type }) => type));
    assert.deepEqual(types, [
      ["log", "done"],
      ["log", "done"],
    ]);
  });

  it("ends with `done` and drops later events", async () => {
    const stream = new EventStream(head);
    stream.add({ type: "done", ok: true });
    stream.add(log("late"));
    assert.equal((await all(stream.after())).length, 1);
  });

  it("converts engine events to resource, machine, log and diagnostic events", () => {
    const urn = urnOf("command:remote:Command", "dev-0-join");
    const change = {
      urn,
      name: "dev-0-join",
      type: "Command",
      phase: undefined,
      operation: "create",
    };
    const about = { at: 1, urn };
    const alive = { serverId: "", through: [], step: "join", seconds: 7 };
    assert.deepEqual(
      [
        convertEngineEvent({ type: "finished", at: 1, change, id: "i" }),
        convertEngineEvent({ type: "alive", ...about, ...alive }),
        convertEngineEvent({ type: "log", ...about, text: "line" }),
        convertEngineEvent({ type: "message", ...about, severity: "info", text: "told" }),
        convertEngineEvent({ type: "message", at: 1, urn: "", severity: "error", text: "no" }),
        convertEngineEvent({ type: "summary", at: 1, seconds: 1, changes: {} }),
      ],
      [
        {
          type: "resource",
          state: "finished",
          urn,
          name: "dev-0-join",
          kind: "Command",
          change: "create",
        },
        { type: "machine", machine: "dev-0", script: "join", seconds: 7, urn },
        { type: "log", urn, text: "line" },
        { type: "log", text: "told", urn },
        { type: "diagnostic", severity: "error", text: "no" },
        undefined,
      ],
    );
  });
});
