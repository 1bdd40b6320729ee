import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  convertPackageFailure,
  loadToolchainPackage,
} from "../../../../automation/toolchain/toolchain-package.js";
import { Failure } from "../../../../base/failures/failure.js";

describe("loadToolchainPackage", () => {
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

  it("returns the package if installed next to the program", () => {
    install("exports.substitute = 7;");
    assert.deepEqual({ ...loadToolchainPackage(from) }, { substitute: 7 });
  });

  it("returns undefined if the package is not installed", () => {
    assert.equal(loadToolchainPackage(from), undefined);
  });

  it("reports an error that the package throws while loading", () => {
    install("throw new RangeError('broken');");
    assert.throws(() => loadToolchainPackage(from), /broken/);
  });
});

describe("convertPackageFailure", () => {
  const copy = (fields: object): Error => Object.assign(new Error("It failed."), fields);

  it("keeps code, sentence and hint of the package's own failures", () => {
    const error = convertPackageFailure(copy({ code: "NOT_READY", hint: "Wait." }));
    assert.ok(error instanceof Failure);
    assert.deepEqual(
      [error.code, error.sentence, error.hint, error.exitCode],
      ["NOT_READY", "It failed.", "Wait.", 1],
    );
  });

  it("returns other errors and failures of this program unchanged", () => {
    for (const error of [
      copy({ code: "ENOENT" }),
      copy({ code: "NOT_READY" }),
      new Failure("FAILED", "a"),
    ])
      assert.equal(convertPackageFailure(error), error);
    assert.equal(convertPackageFailure("text"), "text");
  });
});
