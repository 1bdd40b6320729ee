import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { startHeartbeat } from "../../../kubernetes/heartbeat.js";

function recorder() {
  const seen: string[] = [];
  const events = new EventEmitter();
  return {
    seen,
    next: () => once(events, "update"),
    step: {
      update: (detail: string) => {
        seen.push(detail);
        events.emit("update");
      },
    },
  };
}

describe("startHeartbeat", () => {
  it("forwards every update at once", () => {
    const { seen, step } = recorder();
    const beat = startHeartbeat(step);
    beat.update("one");
    beat.update("two");
    beat.stop();
    assert.deepEqual(seen, ["one", "two"]);
  });

  it("repeats the last update with its age until the next one", async () => {
    const { seen, step, next } = recorder();
    const beat = startHeartbeat(step, 20);
    beat.update("linking");
    await next();
    await next();
    beat.stop();
    assert.equal(seen[0], "linking");
    assert.match(seen[1] ?? "", /^linking \(\d+ s\)$/);
    assert.match(seen[2] ?? "", /^linking \(\d+ s\)$/, "the age is not added twice");
  });

  it("reports activity before the first update", async () => {
    const { seen, step, next } = recorder();
    const beat = startHeartbeat(step, 20);
    await next();
    beat.stop();
    assert.match(seen[0] ?? "", /^working \(/);
  });

  it("reports nothing after its stop", async () => {
    const { seen, step } = recorder();
    const stopped = startHeartbeat(step, 10);
    stopped.update("last");
    stopped.stop();
    const other = recorder();
    const running = startHeartbeat(other.step, 20);
    await other.next();
    running.stop();
    assert.deepEqual(seen, ["last"]);
  });
});
