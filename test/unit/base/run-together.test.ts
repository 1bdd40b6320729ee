import assert from "node:assert/strict";
import { runTogether } from "../../../base/run-together.js";

/** Returns a task that runs until it is aborted, and then calls `ended`. */
const untilStopped =
  (ended: () => void) =>
  (signal: AbortSignal): Promise<never> =>
    new Promise((_, reject) => {
      const end = (): void => {
        ended();
        reject(new Error("was stopped"));
      };
      if (signal.aborted) end();
      else signal.addEventListener("abort", end);
    });

describe("runTogether", () => {
  it("returns both results", async () => {
    const answers = await runTogether(
      async () => Promise.resolve(1),
      async () => Promise.resolve("two"),
    );
    assert.deepEqual(answers, [1, "two"]);
  });

  it("fails with the error of the failed work after the other has been cancelled and has ended", async () => {
    for (const failsFirst of [true, false]) {
      let ended = false;
      const failing = async () => Promise.reject(new Error("no space"));
      const other = untilStopped(() => (ended = true));
      await assert.rejects(
        failsFirst ? runTogether(failing, other) : runTogether(other, failing),
        /no space/,
      );
      assert.equal(ended, true);
    }
  });

  it("is cancelled by the caller's signal", async () => {
    const stop = new AbortController();
    let ended = 0;
    const works = runTogether(
      ...([untilStopped(() => ended++), untilStopped(() => ended++)] as const),
      stop.signal,
    );
    stop.abort();
    await assert.rejects(works, /was stopped/);
    assert.equal(ended, 2);
  });
});
