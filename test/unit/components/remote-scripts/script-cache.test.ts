import { strict as assert } from "node:assert";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { writeCachedFile } from "../../../../components/remote-scripts/script-cache.js";
import {
  createScriptBundle,
  createScriptStep,
} from "../../../../components/remote-scripts/script-steps.js";

describe("script cache", () => {
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
  const bundle = createScriptBundle([createScriptStep("a", { scripts: ["true"] })]);
  const modeOf = (path: string): number => statSync(path).mode & 0o777;

  it("is in the user's cache directory, readable only by the user", () => {
    const file = writeCachedFile(bundle);
    assert.equal(file, join(cache, "stackadm/scripts", `${bundle.digest}.sh`));
    assert.equal(readFileSync(file, "utf8"), bundle.text);
    assert.deepEqual([modeOf(file), modeOf(dirname(file))], [0o600, 0o700]);
  });

  it("is written again if damaged or deleted", () => {
    const file = writeCachedFile(bundle);
    writeFileSync(file, bundle.text.slice(0, -1));
    assert.equal(readFileSync(writeCachedFile(bundle), "utf8"), bundle.text);
    rmSync(cache, { recursive: true });
    writeCachedFile(bundle);
    assert.deepEqual([modeOf(file), modeOf(dirname(file))], [0o600, 0o700]);
  });

  describe("of other releases", () => {
    const other = (name: string, days: number): string => {
      const file = join(cache, "stackadm/scripts", name);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, name);
      age(file, days);
      return file;
    };
    const age = (file: string, days: number): void => {
      const time = new Date(Date.now() - days * 86_400_000);
      utimesSync(file, time, time);
    };

    it("is deleted with leftover parts after 30 days without use", () => {
      const old = [other("a.sh", 31), other("b.sh.1.part", 31)];
      const young = [other("c.sh", 29), other("d.sh", 0)];
      writeCachedFile(bundle);
      assert.deepEqual([...old, ...young].map(existsSync), [false, false, true, true]);
    });

    it("is kept at any age while runs use it", () => {
      const file = writeCachedFile(bundle);
      age(file, 40);
      writeCachedFile(bundle);
      const { mtimeMs } = statSync(file);
      assert.ok(Date.now() - mtimeMs < 86_400_000);
      age(file, 40);
      writeCachedFile(createScriptBundle([createScriptStep("a", { scripts: ["false"] })]));
      assert.equal(existsSync(file), false);
    });
  });

  it("is not rewritten if correct", () => {
    const { ino } = statSync(writeCachedFile(bundle));
    assert.equal(statSync(writeCachedFile(bundle)).ino, ino);
  });
});
