import assert from "node:assert/strict";
import fc from "fast-check";
import {
  OutputCollector,
  createCommandError,
  quoteLikeGo,
  type Logging,
  type OutputStreamName,
} from "../../../../stand-ins/command/output.js";

/**
 * Adds chunks to a new OutputCollector and ends it. Returns the OutputCollector and the lines that
 * it reported.
 */
function collect(
  logging: Logging,
  chunks: readonly (readonly [OutputStreamName, string | Buffer])[],
) {
  const lines: string[] = [];
  const output = new OutputCollector(logging, (line) => lines.push(line));
  for (const [stream, data] of chunks) output.add(stream, Buffer.from(data));
  output.end();
  return { output, lines };
}

const stream = fc.constantFrom<OutputStreamName>("stdout", "stderr");

describe("OutputCollector", () => {
  it("returns the same lines for any chunks, even split within a character", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.array(fc.nat(40)), (text, cuts) => {
        const bytes = Buffer.from(text);
        const places = [...cuts.filter((cut) => cut < bytes.length), bytes.length];
        let from = 0;
        const parts = places
          .sort((a, b) => a - b)
          .map((to) => ["stdout", bytes.subarray(from, (from = to))] as const);
        assert.deepEqual(
          collect("stdout", parts).lines,
          collect("stdout", [["stdout", text]]).lines,
        );
      }),
    );
  });

  it("keeps each stream complete, and both in order of arrival for errors", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(stream, fc.string())), (chunks) => {
        const { output } = collect("none", chunks);
        assert.equal(output.combined(), chunks.map(([, text]) => text).join(""));
        for (const name of ["stdout", "stderr"] as const) {
          const own = chunks.filter(([from]) => from === name).map(([, text]) => text);
          assert.equal(output.of(name), own.join("").replace(/\n$/, ""));
        }
      }),
    );
  });

  it("reports output line by line, including an unterminated last line", () => {
    assert.deepEqual(collect("stdoutAndStderr", [["stdout", "a\nb\r\n\nc"]]).lines, [
      ...["a", "b", "", "c"],
    ]);
    assert.deepEqual(collect("stdout", [["stdout", "a\n"]]).lines, ["a"]);
    assert.deepEqual(collect("stdout", []).lines, []);
  });

  for (const [logging, expected] of [
    ["none", []],
    ["stdout", ["out"]],
    ["stderr", ["err"]],
    ["stdoutAndStderr", ["out", "err"]],
  ] as const) {
    it(`reports output as with 'logging: ${logging}' and keeps all output`, () => {
      const chunks = [
        ["stdout", "out\n"],
        ["stderr", "err\n"],
      ] as const;
      const { output, lines } = collect(logging, chunks);
      assert.deepEqual(lines, expected);
      assert.equal(output.combined(), "out\nerr\n");
    });
  }
});

describe("createCommandError", () => {
  it("contains the reason, the quoted command and the complete output", () => {
    const { output } = collect("none", [
      ["stdout", "half done\n"],
      ["stderr", "no space left"],
    ]);
    assert.equal(
      createCommandError("exit status 1", 'cp "a"\nb', output).message,
      'exit status 1: running "cp \\"a\\"\\nb":\nhalf done\nno space left',
    );
  });

  it("quotes any text so that it can be parsed again", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary-ascii" }), (text) => {
        const go = quoteLikeGo(text)
          .replaceAll(/\\x([0-9a-f]{2})/g, "\\u00$1")
          .replaceAll("\\a", "\\u0007")
          .replaceAll("\\v", "\\u000b");
        fc.pre(!text.includes("\\"));
        assert.equal(JSON.parse(go), text);
        assert.ok(!quoteLikeGo(text).includes("\n"));
      }),
    );
  });
});
