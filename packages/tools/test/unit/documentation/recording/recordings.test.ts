import assert from "node:assert/strict";
import { hideHome } from "../../../../documentation/recording/record-terminal.js";
import { readRecording } from "../../../../documentation/recording/recordings.js";

describe("readRecording", () => {
  it("names the command that records a missing file", () => {
    const missing = { path: "docs/pictures/no-such-file.cast", command: "record it" };
    assert.throws(
      () => readRecording(missing),
      /^Error: docs\/pictures\/no-such-file\.cast is missing; record it with `record it`$/,
    );
  });
});

describe("hideHome", () => {
  const size = { columns: 80, rows: 24 };
  const cast = (...texts: readonly string[]) => ({
    size,
    command: "stackadm up",
    outputs: texts.map((text, seconds) => ({ seconds, text })),
  });

  it("replaces the home directory by ~", () => {
    const { outputs } = hideHome(cast("see /home/user/x", "and /home/user"), "/home/user");
    assert.deepEqual(
      outputs.map(({ text }) => text),
      ["see ~/x", "and ~"],
    );
  });

  it("refuses a recording in which two outputs divide the directory", () => {
    assert.throws(() => hideHome(cast("see /home", "/user/x"), "/home/user"), /record it again/);
  });
});
