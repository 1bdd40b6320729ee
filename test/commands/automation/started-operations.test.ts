import assert from "node:assert/strict";
import { setImmediate as turn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
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

  const events = async (
    from: AsyncIterable<OperationEvent>,
    count: number,
  ): Promise<OperationEvent[]> => {
    const seen: OperationEvent[] = [];
    for await (const event of from) {
      seen.push(event);
      if (seen.length === count) break;
    }
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

  it("ends at once if it is cancelled in the queue, and the next one waits for its turn", async () => {
    engine.runs({ preview: { events: [diagnostic("begun", "warning")], then: "wait" } });
    const service = embedder.service();
    const first = service.start("preview", "dev", bare);
    const ended = first.result.catch((error: unknown) => error);
    const second = service.start("up", "dev", bare);
    second.cancel();
    await fails(second.result, "CANCELLED");
    const third = service.start("up", "dev", bare);
    const [queued] = await events(third.events(), 1);
    assert.ok(queued?.type === "queued");
    assert.equal(queued.behind, 1);
    for await (const event of first.events())
      if (event.type === "diagnostic") {
        assert.deepEqual(engine.operations(), ["preview"]);
        first.cancel();
      }
    await Promise.all([ended, third.result]);
    assert.deepEqual(engine.operations(), ["preview", "up"]);
  });

  it("leaves no trace of its result in the service", async () => {
    const service = embedder.service();
    const results: WeakRef<object>[] = [];
    const run = async (): Promise<void> => {
      results.push(new WeakRef(await service.start("up", "dev", bare).result));
    };
    for (let count = 0; count < 3; count += 1) await run();
    setFlagsFromString("--expose-gc");
    const collectGarbage = runInNewContext("gc") as () => void;
    await turn();
    collectGarbage();
    assert.equal(results.filter((one) => one.deref() !== undefined).length, 0);
  });

  it("is refused if the environment names another backend than the service", async () => {
    const service = embedder.service({ PULUMI_BACKEND_URL: "postgres://ann:secret-word@db/s" });
    const { message } = await fails(service.start("preview", "dev", bare).result, "INVALID_USAGE");
    assert.match(message, /^PULUMI_BACKEND_URL is 'postgres:\/\/ann@db\/s', but the backend of /);
    assert.deepEqual(engine.calls(), []);
    await embedder.service().start("preview", "dev", bare).result;
    const { backend } = embedder;
    const given = engine.environmentOf("preview").get("PULUMI_BACKEND_URL");
    assert.equal(given, `${backend}?metadata=skip`);
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
