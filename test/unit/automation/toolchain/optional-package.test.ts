import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  optionalPackage,
  ownFailure,
  requirePackage,
} from "../../../../automation/toolchain/optional-package.js";
import { Failure } from "../../../../base/failures/failure.js";

describe("an optional package", () => {
  let folder: string;
  let from: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "stackadm-optional-"));
    from = join(folder, "program.js");
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });
  const install = (text: string): void => {
    const home = join(folder, "node_modules", "@stackadm", "lab");
    mkdirSync(home, { recursive: true });
    writeFileSync(join(home, "package.json"), JSON.stringify({ exports: "./index.js" }));
    writeFileSync(join(home, "index.js"), text);
  };

  it("is loaded if it is installed next to the program", () => {
    install("exports.answer = 7;");
    const expected = { answer: 7 };
    assert.deepEqual({ ...optionalPackage("@stackadm/lab", from) }, expected);
    assert.deepEqual({ ...requirePackage("@stackadm/lab", from) }, expected);
  });

  it("is undefined if it is not installed, and an error names it if it is required", () => {
    assert.equal(optionalPackage("@stackadm/lab", from), undefined);
    assert.throws(
      () => requirePackage("@stackadm/lab/cli", from),
      (error: unknown) => {
        assert.ok(error instanceof Failure);
        assert.equal(error.code, "TOOL_MISSING");
        assert.equal(error.sentence, "The package @stackadm/lab is not installed.");
        assert.match(error.hint, /npm install --save-dev @stackadm\/lab\.$/);
        return true;
      },
    );
  });

  it("reports its own errors: one that throws while it is loaded is not missing", () => {
    install("throw new RangeError('broken');");
    assert.throws(() => optionalPackage("@stackadm/lab", from), /broken/);
  });
});

describe("the error of an optional package", () => {
  const copy = (fields: object): Error => Object.assign(new Error("It failed."), fields);

  it("keeps code, sentence and hint of the package's own failures", () => {
    const error = ownFailure(copy({ code: "NOT_READY", hint: "Wait." }));
    assert.ok(error instanceof Failure);
    assert.deepEqual(
      [error.code, error.sentence, error.hint, error.exitCode],
      ["NOT_READY", "It failed.", "Wait.", 1],
    );
  });

  it("is not changed if it is no failure, or a failure of this program", () => {
    const errors = [
      copy({ code: "ENOENT" }),
      copy({ code: "NOT_READY" }),
      new Failure("FAILED", "a"),
    ];
    for (const error of errors) assert.equal(ownFailure(error), error);
    assert.equal(ownFailure("text"), "text");
  });
});
