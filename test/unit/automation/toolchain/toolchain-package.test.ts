import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  convertPackageFailure,
  loadToolchainPackage,
} from "../../../../automation/toolchain/toolchain-package.js";
import { Failure } from "../../../../base/failures/failure.js";

describe("the package of the toolchain", () => {
  let folder: string;
  let from: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "stackadm-toolchain-package-"));
    from = join(folder, "program.js");
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });
  const install = (text: string): void => {
    const home = join(folder, "node_modules", "@stackadm", "toolchain");
    mkdirSync(home, { recursive: true });
    writeFileSync(join(home, "package.json"), JSON.stringify({ exports: "./index.js" }));
    writeFileSync(join(home, "index.js"), text);
  };

  it("is loaded if it is installed next to the program", () => {
    install("exports.substitute = 7;");
    assert.deepEqual({ ...loadToolchainPackage(from) }, { substitute: 7 });
  });

  it("is undefined if it is not installed", () => {
    assert.equal(loadToolchainPackage(from), undefined);
  });

  it("reports its own errors: a package that throws while it is loaded is not missing", () => {
    install("throw new RangeError('broken');");
    assert.throws(() => loadToolchainPackage(from), /broken/);
  });
});

describe("the error of the package of the toolchain", () => {
  const copy = (fields: object): Error => Object.assign(new Error("It failed."), fields);

  it("keeps code, sentence and hint of the package's own failures", () => {
    const error = convertPackageFailure(copy({ code: "NOT_READY", hint: "Wait." }));
    assert.ok(error instanceof Failure);
    assert.deepEqual(
      [error.code, error.sentence, error.hint, error.exitCode],
      ["NOT_READY", "It failed.", "Wait.", 1],
    );
  });

  it("is not changed if it is no failure, or a failure of this program", () => {
    for (const error of [
      copy({ code: "ENOENT" }),
      copy({ code: "NOT_READY" }),
      new Failure("FAILED", "a"),
    ])
      assert.equal(convertPackageFailure(error), error);
    assert.equal(convertPackageFailure("text"), "text");
  });
});
