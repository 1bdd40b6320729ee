import { strict as assert } from "node:assert";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileOf } from "../../../../components/remote-scripts/script-files.js";
import { bundleOf, stepOf } from "../../../../components/remote-scripts/script-steps.js";

describe("the file with the steps of a role", () => {
  const before = process.env["XDG_CACHE_HOME"];
  let cache = "";
  beforeEach(() => {
    cache = mkdtempSync(join(tmpdir(), "stackadm-cache-"));
    process.env["XDG_CACHE_HOME"] = cache;
  });
  afterEach(() => {
    if (before === undefined) delete process.env["XDG_CACHE_HOME"];
    else process.env["XDG_CACHE_HOME"] = before;
    rmSync(cache, { recursive: true });
  });
  const bundle = bundleOf([stepOf("a", { scripts: ["true"] })]);
  const modeOf = (path: string): number => statSync(path).mode & 0o777;

  it("is in the user's cache, where only the user reads it", () => {
    const file = fileOf(bundle);
    assert.equal(file, join(cache, "stackadm/scripts", `${bundle.digest}.sh`));
    assert.equal(readFileSync(file, "utf8"), bundle.text);
    assert.deepEqual([modeOf(file), modeOf(dirname(file))], [0o600, 0o700]);
  });

  it("is written again if it is damaged or deleted", () => {
    const file = fileOf(bundle);
    writeFileSync(file, bundle.text.slice(0, -1));
    assert.equal(readFileSync(fileOf(bundle), "utf8"), bundle.text);
    rmSync(cache, { recursive: true });
    fileOf(bundle);
    assert.deepEqual([modeOf(file), modeOf(dirname(file))], [0o600, 0o700]);
  });

  it("is left alone if it is right", () => {
    const { ino } = statSync(fileOf(bundle));
    assert.equal(statSync(fileOf(bundle)).ino, ino);
  });
});
