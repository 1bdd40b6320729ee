import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { promptLine } from "../../../../automation/cli/prompt.js";
import { Failure } from "../../../../base/failures/failure.js";

describe("promptLine", () => {
  const terminal = () => {
    const input = Object.assign(new PassThrough(), { isTTY: true });
    const output = Object.assign(new PassThrough(), { isTTY: true });
    return { input, output };
  };
  const stopped = async (work: Promise<string>): Promise<void> => {
    await assert.rejects(
      work,
      (error: unknown) => error instanceof Failure && error.code === "CANCELLED",
    );
  };

  it("returns the typed line and leaves later input unread", async () => {
    const { input, output } = terminal();
    const answer = promptLine("Who? ", { input, output });
    input.write("dex\u007Fv\n");
    assert.equal(await answer, "dev");
    output.end();
    assert.match(await text(output), /Who\? /);
    assert.equal(input.isPaused(), true);
  });

  it("returns an empty answer without input", async () => {
    for (const end of ["", "\u0004"]) {
      const { input, output } = terminal();
      const answer = promptLine("Who? ", { input, output });
      if (end === "") input.end();
      else input.write(end);
      assert.equal(await answer, "");
    }
  });

  it("stops on Ctrl-C, on the signal and on an earlier signal", async () => {
    const first = terminal();
    const typed = promptLine("Who? ", first);
    first.input.write("de\u0003");
    await stopped(typed);
    const stop = new AbortController();
    const asked = promptLine("Who? ", { ...terminal(), signal: stop.signal });
    stop.abort();
    await stopped(asked);
    await stopped(promptLine("Who? ", { ...terminal(), signal: stop.signal }));
  });
});
