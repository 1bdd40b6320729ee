import assert from "node:assert/strict";
import type { OperationEvent } from "../../../automation/engine/operation-events.js";
import { Embedder, fails } from "../../support/engine/embedder.js";
import {
  diagnostic,
  networkType,
  stepEvent,
  type Engine,
} from "../../support/engine/fake-engine.js";

describe("an operation that a program starts", function () {
  this.timeout(60_000);
  let embedder: Embedder;
  let engine: Engine;
  beforeEach(async () => {
    embedder = await Embedder.start("config: {}\n");
    ({ engine } = embedder);
  });
  afterEach(() => embedder.stop());
  const bare = { preflight: false, verify: false } as const;
  const all = async (events: AsyncIterable<OperationEvent>): Promise<OperationEvent[]> => {
    const seen: OperationEvent[] = [];
    for await (const event of events) seen.push(event);
    return seen;
  };

  it("reports queue, cluster, steps, resources and the end, and returns the result", async () => {
    const net = { type: networkType, name: "net" };
    engine.runs({
      up: {
        events: [
          stepEvent("resourcePreEvent", net),
          diagnostic("careful", "warning"),
          stepEvent("resOutputsEvent", net),
        ],
      },
    });
    const operation = embedder.service().start("up", "dev", bare);
    const seen = await all(operation.events());
    assert.deepEqual(
      seen.map(({ n }) => n),
      seen.map((_, index) => index + 1),
    );
    assert.ok(seen.every((one) => one.operation === operation.id && one.stack === "dev"));
    const named = seen.map((event) => {
      if (event.type === "step") return `${event.state} ${event.title}`;
      if (event.type === "resource") return `${event.state} ${event.name}`;
      if (event.type === "diagnostic") return `${event.severity} ${event.text}`;
      return event.type;
    });
    assert.deepEqual(named.slice(0, 2), ["queued", "cluster"]);
    const from = named.indexOf("begin Bring up the cluster");
    assert.deepEqual(named.slice(from, from + 5), [
      "begin Bring up the cluster",
      "started net",
      "warning careful",
      "finished net",
      "end Bring up the cluster",
    ]);
    assert.equal(named.at(-1), "done");
    assert.deepEqual((await operation.result).outputs, {});
  });

  it("reports the same error in its last event and in its result", async () => {
    engine.runs({ refresh: { code: 255, stderr: "error: no\n" } });
    const operation = embedder.service().start("refresh", "dev");
    const done = (await all(operation.events())).at(-1);
    const error = await operation.result.then(
      () => assert.fail("ended well"),
      (failed: unknown) => failed as Error & { code: string },
    );
    assert.ok(done?.type === "done" && !done.ok);
    assert.deepEqual([done.error?.code, done.error?.message], [error.code, error.message]);
  });

  it("reports how many operations run first, and can be cancelled in the queue", async () => {
    const service = embedder.service();
    const first = service.start("preview", "dev", bare);
    const second = service.start("up", "dev", bare);
    second.cancel();
    await first.result;
    await fails(second.result, "CANCELLED");
    const [queued] = await all(second.events());
    assert.ok(queued?.type === "queued");
    assert.deepEqual([queued.name, queued.behind], ["up", 1]);
    assert.deepEqual(engine.operations(), ["preview"]);
  });

  it("can be cancelled while it runs, gracefully or immediately", async () => {
    for (const [how, then] of [
      [{}, "wait"],
      [{ now: true }, "hang"],
    ] as const) {
      engine.runs({ up: { events: [diagnostic("begun", "warning")], then } });
      const operation = embedder.service().start("up", "dev", bare);
      for await (const event of operation.events())
        if (event.type === "diagnostic" && event.text === "begun") operation.cancel(how);
      await fails(operation.result, "CANCELLED");
    }
  });
});
