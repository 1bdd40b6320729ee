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

describe("two works at once", () => {
  it("answer what each answers", async () => {
    const answers = await runTogether(
      async () => Promise.resolve(1),
      async () => Promise.resolve("two"),
    );
    assert.deepEqual(answers, [1, "two"]);
  });

  it("end with the error of the one that failed, when the other was stopped and has ended", async () => {
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

  it("are stopped by whoever began them", async () => {
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
