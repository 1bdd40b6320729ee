import assert from "node:assert/strict";
import { recordTerminal } from "../../documentation/recording/record-terminal.js";

describe("recordTerminal", () => {
  const size = { columns: 91, rows: 27 };

  it("records the output of a command in a terminal of this size, without CI", async () => {
    const script = 'test -t 1 && stty size && echo "CI=$CI it\'s"';
    const cast = await recordTerminal(["sh", "-c", script], size, { ...process.env, CI: "1" });
    const text = cast.outputs.map((output) => output.text).join("");
    assert.match(text, /^\$ sh -c .*\r\n27 91\r\nCI= it's\r\n$/);
    assert.deepEqual(cast.size, size);
    const times = cast.outputs.map(({ seconds }) => seconds);
    assert.deepEqual(
      times,
      times.toSorted((one, other) => one - other),
    );
  });

  it("fails if the command fails", async () => {
    await assert.rejects(
      recordTerminal(["sh", "-c", "exit 3"], size, process.env),
      /sh -c 'exit 3' failed with exit code 3/,
    );
  });
});
