import assert from "node:assert/strict";
import { Failure } from "../../../../../base/failures/failure.js";
import { removeWithRetries } from "../../../host/remove-with-retries.js";

describe("lab/host/remove-with-retries", () => {
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

  it("waits until the thing is not used any more", async () => {
    await removeWithRetries(usedFor(2));
    assert.equal(attempts, 3);
  });

  it("tries once what succeeds, and never what is not there", async () => {
    await removeWithRetries({ ...usedFor(0), isThere: () => true });
    assert.equal(attempts, 1);
    await removeWithRetries({ ...usedFor(0), isThere: () => false });
    assert.equal(attempts, 1);
  });

  it("is content when somebody else took the thing away meanwhile", async () => {
    await removeWithRetries({ ...usedFor(9), isThere: () => attempts === 0 });
    assert.equal(attempts, 1);
  });

  it("ends, naming the thing, what keeps it and what to do", async () => {
    const error = await removeWithRetries(usedFor(1e9), 300).catch((reason: unknown) => reason);
    assert.ok(error instanceof Failure);
    assert.equal(
      error.message,
      "The thing is still there after 0.3 s: EBUSY: resource busy or locked.",
    );
    assert.equal(error.hint, "End what uses it and run 'stackadm-lab down' again.");
    assert.ok(attempts > 1);
  });

  it("prefers who keeps it to what the last attempt said, where that is known", async () => {
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
