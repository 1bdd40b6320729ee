import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import {
  requiredKernelSettings,
  raiseKernelSettings,
  restoreKernelSettings,
  findTooLowSettings,
} from "../../../host/kernel-settings.js";

describe("kernel settings", () => {
  let root: string;
  let folder: string;
  const by = (lab = "one") => ({ folder, lab, root });
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "stackadm-sysctl-"));
    folder = join(root, "remembered", "kernel-settings");
  });
  afterEach(() => {
    rmSync(root, { recursive: true });
  });

  const host = (values: Readonly<Record<string, number>>): void => {
    for (const [key, value] of Object.entries(values)) {
      mkdirSync(dirname(join(root, key)), { recursive: true });
      writeFileSync(join(root, key), `${value.toString()}\n`);
    }
  };
  const now = (): Record<string, number> =>
    Object.fromEntries(
      Object.keys(requiredKernelSettings).map((key) => [
        key,
        Number(readFileSync(join(root, key), "utf8")),
      ]),
    );
  const debian = {
    "net/ipv4/ip_forward": 0,
    "fs/inotify/max_user_instances": 128,
    "fs/inotify/max_user_watches": 191_000,
  };

  it("are reported only if lower than required", () => {
    assert.deepEqual(findTooLowSettings({ a: 1, b: 5, c: 3 }, { a: 2, b: 2, c: 3, d: 1 }), [
      "a",
      "d",
    ]);
  });

  it("are raised from Debian's defaults and restored", async () => {
    host(debian);
    await raiseKernelSettings(by());
    assert.deepEqual(now(), requiredKernelSettings);
    await restoreKernelSettings(by());
    assert.deepEqual(now(), debian);
    assert.equal(existsSync(folder), false);
  });

  for (const first of ["one", "two"])
    it(`are restored by the last of two labs, not by the ${first}`, async () => {
      host(debian);
      const last = first === "one" ? "two" : "one";
      await raiseKernelSettings(by("one"));
      await raiseKernelSettings(by("two"));
      await restoreKernelSettings(by(first));
      assert.deepEqual(now(), requiredKernelSettings);
      await restoreKernelSettings(by(last));
      assert.deepEqual(now(), debian);
      assert.equal(existsSync(folder), false);
    });

  it("are kept if high enough, and then not restored", async () => {
    const high = { ...requiredKernelSettings, "fs/inotify/max_user_instances": 1_000_000 };
    host(high);
    await raiseKernelSettings(by());
    assert.deepEqual(now(), high);
    await restoreKernelSettings(by());
    assert.deepEqual(now(), high);
  });

  it("are restored to the values before the first of two raises, because an earlier lab may have been killed", async () => {
    host(debian);
    await raiseKernelSettings(by());
    host({ "fs/inotify/max_user_instances": 256 });
    await raiseKernelSettings(by());
    await restoreKernelSettings(by());
    assert.deepEqual(now(), debian);
  });

  it("are restored only if known, for any content of the file", async () => {
    host(requiredKernelSettings);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "before"), "../../etc/passwd 0\nkernel/panic 1\n");
    await restoreKernelSettings(by());
    assert.deepEqual(now(), requiredKernelSettings);
    assert.equal(existsSync(join(root, "kernel/panic")), false);
  });
});
