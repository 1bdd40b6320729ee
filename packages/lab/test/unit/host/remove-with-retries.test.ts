import assert from "node:assert/strict";
import { Failure } from "../../../../../base/failures/failure.js";
import { removeWithRetries } from "../../../host/remove-with-retries.js";

describe("removeWithRetries", () => {
  const busy = new Error("EBUSY: resource busy or locked");
  let attempts = 0;
  beforeEach(() => {
    attempts = 0;
  });
  /** Returns an object that is in use for the first `count` attempts. */
  const usedFor = (count: number) => ({
    name: "The thing",
    isThere: () => attempts <= count,
    remove: () => (++attempts <= count ? Promise.reject(busy) : Promise.resolve()),
  });

  it("waits until the object is unused", async () => {
    await removeWithRetries(usedFor(2));
    assert.equal(attempts, 3);
  });

  it("tries once if the removal succeeds, and not at all for a missing object", async () => {
    await removeWithRetries({ ...usedFor(0), isThere: () => true });
    assert.equal(attempts, 1);
    await removeWithRetries({ ...usedFor(0), isThere: () => false });
    assert.equal(attempts, 1);
  });

  it("succeeds if another process removed the object meanwhile", async () => {
    await removeWithRetries({ ...usedFor(9), isThere: () => attempts === 0 });
    assert.equal(attempts, 1);
  });

  it("fails with the object, the reason and what to do", async () => {
    const error = await removeWithRetries(usedFor(1e9), 300).catch((reason: unknown) => reason);
    assert.ok(error instanceof Failure);
    assert.equal(
      error.message,
      "The thing is still there after 0.3 s: EBUSY: resource busy or locked.",
    );
    assert.equal(error.hint, "End what uses it and run 'stackadm-lab down' again.");
    assert.ok(attempts > 1);
  });

  it("reports the processes that use the object instead of the last error, if known", async () => {
    const what = { ...usedFor(1e9), hint: "Look." };
    for (const [kept, said] of [
      ["conmon in it.", /s: conmon in it\.$/],
      [undefined, /s: EBUSY/],
    ] as const) {
      await assert.rejects(removeWithRetries({ ...what, kept: () => Promise.resolve(kept) }, 0), {
        message: said,
        hint: "Look.",
      });
    }
  });
});
