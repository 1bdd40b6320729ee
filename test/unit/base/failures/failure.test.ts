import assert from "node:assert/strict";
import fc from "fast-check";
import {
  Failure,
  prependFailureCode,
  recogniseError,
  findReasonLine,
  splitFailureCode,
} from "../../../../base/failures/failure.js";
import { failureCodes, getFailureRow } from "../../../../base/failures/failure-codes.js";

const code = fc.constantFrom(...failureCodes);
const anything = fc.string({ unit: "grapheme", maxLength: 200 });

describe("Failure", () => {
  it("has the exit code of its row, and the row's hint unless the caller passes one", () => {
    for (const one of failureCodes) {
      const { hint, exitCode, message, sentence } = new Failure(one, "It is late.");
      assert.deepEqual([hint, exitCode], [getFailureRow(one).hint, getFailureRow(one).exitCode]);
      assert.deepEqual([message, sentence], ["It is late.", "It is late."]);
    }
    assert.equal(new Failure("NOT_READY", "It is late.", "Wait.").hint, "Wait.");
  });

  it("has the failed resource if the caller passes one", () => {
    const { subject } = new Failure("NOT_READY", "It is late.", undefined, { resource: "web" });
    assert.deepEqual(subject, { resource: "web" });
    assert.deepEqual(new Failure("NOT_READY", "It is late.").subject, {});
  });
});

describe("failure code prefix", () => {
  it("precedes the sentence", () => {
    assert.equal(prependFailureCode("NOT_READY", "It is late."), "[NOT_READY] It is late.");
  });

  it("is removed again from any sentence", () => {
    fc.assert(
      fc.property(code, anything, (one, text) => {
        assert.deepEqual(splitFailureCode(prependFailureCode(one, text)), { code: one, text });
      }),
    );
  });

  it("is found if the SDK repeats the error", () => {
    const again = "error: One or more errors occurred: [NOT_FOUND] no image";
    assert.deepEqual(splitFailureCode(again), {
      code: "NOT_FOUND",
      text: "error: One or more errors occurred: no image",
    });
  });

  it("is found in the error of a hook, in a preview and in an update", () => {
    const sentence = "The specification is not valid:\n  cluster.x: 1 cannot become 2";
    for (const before of ["Preview failed: ", ""])
      assert.deepEqual(
        splitFailureCode(
          `${before}before hook "check-dev-frozen" failed: [INVALID_CONFIG] ${sentence}`,
        ),
        { code: "INVALID_CONFIG", text: sentence },
      );
  });

  const foreign = [
    ...["[ERROR NumCPU]: the number of available CPUs", "[preflight] Running", "[OK] x", "x"],
    'a before hook "x" failed: [NOT_READY] y',
    ...["\n[NOT_READY] below", "console: [FAILED] Failed to start ssh", "[NOT_READY]", ""],
  ];
  for (const text of foreign)
    it(`is not recognised in ${JSON.stringify(text)}`, () => {
      assert.deepEqual(splitFailureCode(text), { text });
    });

  it("is recognised only at the beginning", () => {
    fc.assert(
      fc.property(anything, code, anything, (before, one, after) => {
        fc.pre(
          before !== "" &&
            !/occurred: $|^(Preview failed: )?before hook|^\[[A-Z_]+\] /.test(before),
        );
        const text = `${before}${prependFailureCode(one, after)}`;
        assert.deepEqual(splitFailureCode(text), { text });
      }),
    );
  });
});

describe("findReasonLine", () => {
  const table: [string, string, string][] = [
    ["the first line", "boom\n  at x\n", "boom"],
    ["the first line that is not empty", "\n\n boom ", "boom"],
    ["the first item of a list", "1 error occurred:\n\t* no image\n\t* more\n\n", "no image"],
    ["the first item of a list after other text", "invoke: 2 errors occurred:\n\t* a\n\t* b", "a"],
    ["the first line of a list without items", "1 error occurred:\nno list", "1 error occurred:"],
    ["an empty text for an empty text", "", ""],
  ];
  for (const [what, text, line] of table)
    it(`returns ${what}`, () => {
      assert.equal(findReasonLine(text), line);
    });

  it("determines the recognised error alone: later lines change nothing", () => {
    const first = fc.constantFrom(
      ...["boom", "Quota exceeded for cores", "Process exited with status 1: running x:"],
    );
    const below = fc.oneof(anything, fc.constantFrom("No valid host", "timed out waiting", "x"));
    fc.assert(
      fc.property(first, below, (line, rest) => {
        const type = "command:remote:Command";
        assert.deepEqual(recogniseError(`${line}\n${rest}`, type), recogniseError(line, type));
      }),
    );
  });
});
