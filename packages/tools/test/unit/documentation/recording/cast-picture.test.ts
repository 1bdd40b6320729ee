import assert from "node:assert/strict";
import { parseCast, renderCast, type Cast } from "../../../../documentation/recording/cast.js";
import { drawCast } from "../../../../documentation/recording/cast-picture.js";
import { playCast } from "../../../../documentation/recording/terminal-frames.js";

const cast = (...outputs: readonly (readonly [number, string])[]): Cast => ({
  size: { columns: 40, rows: 4 },
  command: "stackadm up",
  outputs: outputs.map(([seconds, text]) => ({ seconds, text })),
});
/** Progress as the program draws it: the second drawing replaces the first one. */
const progress = cast(
  [0, "$ stackadm up\r\n"],
  [1, "> Servers (1 s)\r\n"],
  [2, "\u001b[1A\u001b[0J"],
  [2.001, "+ Servers (2 s)\r\n"],
);

describe("a recording", () => {
  it("is the same after it was written and read", () => {
    assert.deepEqual(parseCast(renderCast(progress)), progress);
  });

  it("is refused in another version of the format", () => {
    assert.throws(() => parseCast('{"version":3,"term":{}}\n'), /asciicast 3 is not supported/);
  });
});

describe("playCast", () => {
  const texts = async (played: Cast, pause: number): Promise<string[]> =>
    (await playCast(played, pause)).map(({ lines }) =>
      lines
        .flat()
        .map(({ text }) => text)
        .join("|"),
    );

  it("shows each screen, but none in the middle of a redraw", async () => {
    assert.deepEqual(await texts(progress, 0.1), [
      "$ stackadm up",
      "$ stackadm up|> Servers (1 s)",
      "$ stackadm up|+ Servers (2 s)",
    ]);
  });

  it("leaves out screens that change within the pause, but never the last one", async () => {
    const fast = cast([0, "a"], [1, "b"], [1.2, "c"], [1.4, "d"]);
    assert.deepEqual(await texts(fast, 1.3), ["a", "abc", "abcd"]);
  });

  it("scrolls, and keeps the columns of bold text", async () => {
    const frames = await playCast(cast([0, "1\r\n2\r\n3\r\n4\r\n  a \u001b[1mb\u001b[0m c"]), 0.1);
    assert.deepEqual(frames.at(-1)?.lines, [
      [{ column: 0, text: "2", bold: false }],
      [{ column: 0, text: "3", bold: false }],
      [{ column: 0, text: "4", bold: false }],
      [
        { column: 2, text: "a", bold: false },
        { column: 4, text: "b", bold: true },
        { column: 6, text: "c", bold: false },
      ],
    ]);
  });

  it("refuses colours", async () => {
    await assert.rejects(playCast(cast([0, "\u001b[31mred"]), 0.1), /the recording has colours/);
  });
});

describe("drawCast", () => {
  it("shows the last frame without animation, and each line once in the file", async () => {
    const drawn = await drawCast(progress);
    assert.match(drawn, /\.film\{transform:translateX\(-576px\)\}/);
    assert.match(drawn, /prefers-reduced-motion:reduce\)\{\.film\{animation:none\}\}/);
    assert.equal(drawn.match(/id="l0"[^>]*>\$ stackadm up<\/text>/g)?.length, 1);
    assert.equal(drawn.match(/<use href="#l0"/g)?.length, 3);
    assert.doesNotMatch(drawn, /<script|<foreignObject|times faster/);
  });

  it("refuses a recording that is too large with the fewest frames", async () => {
    const line = (index: number): string => `${String(index)} ${"x".repeat(380)}\r\n`;
    const page = (index: number): string =>
      Array.from({ length: 60 }, (_, row) => line(60 * index + row)).join("");
    const lines = Array.from({ length: 60 }, (_, index) => [index, page(index)] as const);
    const large = { ...cast(...lines), size: { columns: 400, rows: 60 } };
    await assert.rejects(drawCast(large), /a picture of more than 300 kB/);
  });

  it("keeps several spaces, and leaves out rows that are always empty", async () => {
    const drawn = await drawCast(cast([0, "a   b c\r\n"]));
    assert.match(drawn, />a\u00A0\u00A0\u00A0b c<\/text>/);
    assert.match(drawn, /<svg x="14" y="44" width="288" height="16">/);
  });

  it("plays a long recording faster, says so, and stays below 300 kB", async () => {
    const lines = Array.from(
      { length: 3000 },
      (_, index) => [index / 4, `${String(index)} ${"text ".repeat(15)}\r\n`] as const,
    );
    const long = { ...cast(...lines), size: { columns: 100, rows: 30 } };
    const drawn = await drawCast(long);
    assert.match(drawn, /<text class="faint"[^>]*>stackadm up, 19 times faster than it ran</);
    assert.ok(Buffer.byteLength(drawn) <= 300_000, String(drawn.length));
  });
});
