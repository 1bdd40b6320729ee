import assert from "node:assert/strict";
import { CloudError } from "../../../cloud/cloud-error.js";
import { gone, whileInUse } from "../../../cloud/in-use.js";

const refusal = (kind: "conflict" | "forbidden" | "not-found"): CloudError =>
  new CloudError(kind, `said ${kind}`);

describe("what may still be in use", () => {
  it("is asked for again until nothing uses it, or the time is over", async () => {
    let tries = 0;
    const attempt = (until: number) => (): Promise<boolean> =>
      (tries += 1) < until ? Promise.reject(refusal("conflict")) : Promise.resolve(false);
    assert.equal(await whileInUse(attempt(3), { interval: 1 }), false);
    assert.equal(tries, 3);
    const soon = { interval: 1, timeout: 20 };
    await assert.rejects(whileInUse(attempt(Infinity), soon), /said conflict/);
  });

  it("is not insisted on after another answer", async () => {
    let tries = 0;
    const attempt = (): Promise<boolean> => {
      tries += 1;
      return Promise.reject(refusal("forbidden"));
    };
    await assert.rejects(whileInUse(attempt, { interval: 1 }), /said forbidden/);
    assert.equal(tries, 1);
  });

  it("is not asked for any more after a stop", async () => {
    const signal = AbortSignal.abort(new Error("the lock is lost"));
    const never = (): Promise<boolean> => assert.fail("asked");
    await assert.rejects(whileInUse(never, { signal }), /the lock is lost/);
  });

  it("may be gone", async () => {
    assert.equal(await gone(Promise.reject(refusal("not-found"))), true);
    assert.equal(await gone(Promise.resolve()), false);
    await assert.rejects(gone(Promise.reject(refusal("conflict"))), /said conflict/);
  });
});
