import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import {
  createHeartbeatRequest,
  heartbeatLimits,
  OwnerHeartbeat,
} from "../../../../automation/engine/owner-heartbeat.js";
import { takeOverLimits } from "../../../../automation/guards/take-over-stack.js";
import type { OwnerRecord } from "../../../../automation/pulumi/locks/owner-record.js";
import { readMachineTime } from "../../../../base/lease.js";
import { Failure } from "../../../../base/failures/failure.js";

const short = { interval: 20, retry: 5, lease: 400 };

/** Backend with one tag, and an engine that holds a lock. */
class World {
  lock: string | undefined = "lock-1";
  stored: OwnerRecord | undefined;
  /** Error of each read and write. Undefined: the backend works. */
  error: Error | undefined;
  readonly written: OwnerRecord[] = [];
  readonly killed: string[] = [];
  readonly leases: (number | undefined)[] = [];
  /** Milliseconds for which the machine was suspended. */
  suspended = 0;
  readonly heartbeat: OwnerHeartbeat;

  constructor(limits: Partial<typeof short> = {}) {
    const answer = <T>(work: () => T): Promise<T> =>
      this.error ? Promise.reject(this.error) : Promise.resolve(work());
    this.heartbeat = new OwnerHeartbeat(
      "prod",
      {
        findLock: () => answer(() => this.lock),
        read: () => answer(() => this.stored),
        write: (record) =>
          answer(() => {
            this.stored = record;
            this.written.push(record);
          }),
        killEngine: (reason) => this.killed.push(reason),
        reportLease: (at) => this.leases.push(at),
      },
      { ...short, ...limits },
      () => readMachineTime() + this.suspended,
    );
  }

  /** Waits until the condition holds, at most for 5 seconds. */
  async until(holds: () => boolean): Promise<void> {
    for (let tries = 0; tries < 1000 && !holds(); tries += 1) await pause(5);
    assert.ok(holds());
  }
}

const claim: OwnerRecord = { owner: "prod", lock: "lock-1", run: "another", beat: 0 };

describe("OwnerHeartbeat", () => {
  it("stores records with the owner and the lock, one run and growing numbers", async () => {
    const world = new World();
    world.heartbeat.begin();
    world.heartbeat.begin();
    await world.until(() => world.written.length >= 3);
    await world.heartbeat.stop();
    const [first, second, third] = world.written;
    assert.deepEqual({ ...first, run: "" }, { owner: "prod", lock: "lock-1", run: "", beat: 1 });
    assert.deepEqual(second, { ...first, beat: 2 });
    assert.deepEqual(third, { ...first, beat: 3 });
    const { length } = world.written;
    await pause(100);
    assert.equal(world.written.length, length, "a heartbeat was stored after the stop");
    assert.deepEqual(world.killed, []);
  });

  it("stores nothing before the engine has the lock, and after a stop before the lock", async () => {
    const world = new World();
    await world.heartbeat.stop();
    world.heartbeat.begin();
    await pause(50);
    assert.deepEqual(world.written, []);
    const unlocked = new World();
    unlocked.lock = undefined;
    unlocked.heartbeat.begin();
    await pause(50);
    assert.deepEqual(unlocked.written, []);
    unlocked.lock = "lock-2";
    await unlocked.until(() => unlocked.written[0]?.lock === "lock-2");
    await unlocked.heartbeat.stop();
  });

  it("replaces the record of an earlier operation", async () => {
    const world = new World();
    world.stored = { owner: "other", lock: "lock-0", run: "earlier", beat: 7 };
    world.heartbeat.begin();
    await world.until(() => world.written.length >= 2);
    await world.heartbeat.stop();
    assert.deepEqual(world.killed, []);
  });

  it("kills the engine and stores nothing more after a claim of another operation", async () => {
    const world = new World();
    world.heartbeat.begin();
    await world.until(() => world.written.length >= 1);
    world.stored = claim;
    await world.until(() => world.killed.length >= 1);
    await pause(100);
    assert.deepEqual(world.killed, [
      "The engine was killed, because another operation of owner 'prod' has taken the stack over.",
    ]);
    assert.equal(world.stored, claim);
    await world.heartbeat.stop();
  });

  it("keeps the engine if a record has another lock and the engine's lock exists", async () => {
    const world = new World();
    world.heartbeat.begin();
    await world.until(() => world.written.length >= 1);
    for (const beat of [0, 9]) {
      const { length } = world.written;
      world.stored = { ...claim, lock: "lock-0", beat };
      await world.until(() => world.written.length > length);
    }
    await world.heartbeat.stop();
    assert.deepEqual(world.killed, []);
  });

  it("kills the engine if a record has another lock and the engine's lock is removed", async () => {
    const world = new World();
    world.heartbeat.begin();
    await world.until(() => world.written.length >= 1);
    world.lock = undefined;
    world.stored = { ...claim, lock: "lock-2", beat: 1 };
    await world.until(() => world.killed.length >= 1);
    assert.match(world.killed[0] ?? "", /has taken the stack over/);
    await world.heartbeat.stop();
  });

  it("kills the engine at once after a suspension that is longer than the lease", async () => {
    const world = new World({ interval: 60_000, lease: 120_000 });
    world.heartbeat.begin();
    await world.until(() => world.written.length >= 1);
    world.suspended = 130_000;
    await world.until(() => world.killed.length >= 1);
    assert.match(world.killed[0] ?? "", /no heartbeat of owner 'prod' could be stored for 120 s/);
  });

  it("reports each renewal of its lease, and its end", async () => {
    const world = new World();
    const began = readMachineTime();
    world.heartbeat.begin();
    await world.until(() => world.written.length >= 3);
    await world.heartbeat.stop();
    const times = world.leases.slice(0, -1);
    assert.ok(times.length >= 3);
    assert.ok(times.every((at = 0) => at >= began && at <= readMachineTime()));
    assert.equal(world.leases.at(-1), undefined);
  });

  it("stores its record again if the record is deleted", async () => {
    const world = new World();
    world.heartbeat.begin();
    await world.until(() => world.written.length >= 1);
    world.stored = undefined;
    await world.until(() => world.stored !== undefined);
    await world.heartbeat.stop();
    assert.deepEqual(world.killed, []);
  });

  it("kills the engine when no heartbeat could be stored for the lease, once", async () => {
    const world = new World();
    world.heartbeat.begin();
    await world.until(() => world.written.length >= 1);
    world.error = new Failure("FAILED", "connection refused");
    const failedAt = performance.now();
    await world.until(() => world.killed.length >= 1);
    assert.ok(performance.now() - failedAt > short.lease - 2 * short.interval - 50);
    await pause(100);
    assert.deepEqual(world.killed, [
      "The engine was killed, because no heartbeat of owner 'prod' could be stored for 0.4 s (connection refused).",
    ]);
  });

  it("keeps the engine if a heartbeat succeeds within the lease", async () => {
    const world = new World({ lease: 1_000 });
    world.heartbeat.begin();
    await world.until(() => world.written.length >= 1);
    for (let outage = 0; outage < 3; outage += 1) {
      world.error = new Failure("FAILED", "connection refused");
      await pause(400);
      world.error = undefined;
      const { length } = world.written;
      await world.until(() => world.written.length > length);
    }
    await world.heartbeat.stop();
    assert.deepEqual(world.killed, []);
  });

  it("does not kill the engine for a failed heartbeat after the stop", async () => {
    const world = new World();
    world.heartbeat.begin();
    await world.until(() => world.written.length >= 1);
    world.error = new Failure("FAILED", "connection refused");
    await world.heartbeat.stop();
    await pause(short.lease + 100);
    assert.deepEqual(world.killed, []);
  });
});

describe("limits of the heartbeat", () => {
  it("end an engine without heartbeats before another operation takes the stack over", () => {
    const { interval, retry, lease } = heartbeatLimits;
    assert.ok(interval + retry < lease);
    assert.ok(lease + interval < takeOverLimits.unchanged);
    assert.deepEqual(heartbeatLimits, { interval: 30_000, retry: 5_000, lease: 120_000 });
    assert.deepEqual(takeOverLimits, { unchanged: 180_000, poll: 10_000, settle: 10_000 });
  });
});

describe("createHeartbeatRequest", () => {
  const backend = "s3://bucket";
  const env = { STACKADM_OWNER: "prod" };

  it("names the owner and the backend of an operation that takes the lock", () => {
    for (const operation of ["up", "refresh", "destroy", "hold"] as const)
      assert.deepEqual(createHeartbeatRequest(operation, { env, backend }), {
        owner: "prod",
        backend,
        ...heartbeatLimits,
      });
  });

  it("is undefined without an owner, for a preview, and in Pulumi Cloud", () => {
    assert.equal(createHeartbeatRequest("up", { env: {}, backend }), undefined);
    assert.equal(createHeartbeatRequest("preview", { env, backend }), undefined);
    const cloud = "https://api.pulumi.com";
    assert.equal(createHeartbeatRequest("up", { env, backend: cloud }), undefined);
  });
});
