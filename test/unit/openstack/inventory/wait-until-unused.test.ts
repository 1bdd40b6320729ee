import assert from "node:assert/strict";
import { CloudError } from "../../../../openstack/http/cloud-error.js";
import {
  wasAlreadyGone,
  TimedWait,
  retryWhileInUse,
} from "../../../../openstack/inventory/wait-until-unused.js";

const refusal = (kind: "conflict" | "forbidden" | "not-found"): CloudError =>
  new CloudError(kind, `said ${kind}`);

const waited = { what: "port 'p' (1)", bound: 60_000 };

describe("retryWhileInUse", () => {
  it("retries until the object is unused or the time limit is reached", async () => {
    let tries = 0;
    const attempt = (until: number) => (): Promise<boolean> =>
      (tries += 1) < until ? Promise.reject(refusal("conflict")) : Promise.resolve(false);
    assert.equal(await retryWhileInUse(attempt(3), waited, { interval: 1 }), false);
    assert.equal(tries, 3);
    const soon = { interval: 1, timeout: 20 };
    await assert.rejects(retryWhileInUse(attempt(Infinity), waited, soon), /said conflict/);
  });

  it("uses the caller's bound if no timeout is set", async () => {
    const never = (): Promise<boolean> => Promise.reject(refusal("conflict"));
    const brief = { ...waited, bound: 20 };
    await assert.rejects(retryWhileInUse(never, brief, { interval: 1 }), /said conflict/);
    assert.equal(new TimedWait(waited, {}).isOver, false);
  });

  it("continues after a step of the clock, as after a suspension", async () => {
    const { now } = Date;
    const wait = new TimedWait(waited, {});
    let tries = 0;
    const attempt = (): Promise<boolean> => {
      Date.now = () => now() + 3_600_000;
      return (tries += 1) < 3 ? Promise.reject(refusal("conflict")) : Promise.resolve(false);
    };
    try {
      assert.equal(await retryWhileInUse(attempt, waited, { interval: 1 }), false);
      assert.equal(wait.isOver, false);
    } finally {
      Date.now = now;
    }
  });

  it("reports the reason at intervals", async () => {
    const said: string[] = [];
    const options = { interval: 1, onWait: (text: string): void => void said.push(text) };
    let tries = 0;
    const attempt = (): Promise<boolean> =>
      (tries += 1) < 4 ? Promise.reject(refusal("conflict")) : Promise.resolve(false);
    await retryWhileInUse(attempt, waited, options);
    assert.deepEqual(said, [], "half a minute is not over");
    tries = 0;
    await retryWhileInUse(attempt, waited, { ...options, every: 0 });
    assert.equal(said.length, 3);
    assert.equal(said[0], "Waiting for the port 'p' (1), 1 min at most: said conflict.");
  });

  it("stops waiting on cancellation", async () => {
    const stop = new AbortController();
    const never = (): Promise<boolean> => {
      stop.abort();
      return Promise.reject(refusal("conflict"));
    };
    const options = { signal: stop.signal, interval: 60_000 };
    await assert.rejects(retryWhileInUse(never, waited, options), { name: "AbortError" });
  });

  it("does not retry after another error", async () => {
    let tries = 0;
    const attempt = (): Promise<boolean> => {
      tries += 1;
      return Promise.reject(refusal("forbidden"));
    };
    await assert.rejects(retryWhileInUse(attempt, waited, { interval: 1 }), /said forbidden/);
    assert.equal(tries, 1);
  });

  it("sends no request after a cancellation", async () => {
    const signal = AbortSignal.abort(new Error("the lock is lost"));
    const never = (): Promise<boolean> => assert.fail("asked");
    await assert.rejects(retryWhileInUse(never, waited, { signal }), /the lock is lost/);
  });

  it("treats an object that is missing as deleted", async () => {
    assert.equal(await wasAlreadyGone(Promise.reject(refusal("not-found"))), true);
    assert.equal(await wasAlreadyGone(Promise.resolve()), false);
    await assert.rejects(wasAlreadyGone(Promise.reject(refusal("conflict"))), /said conflict/);
  });
});
