import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isMounted } from "../../../host/mounts.js";
import { closeStore, hasHostCrashed, listLoopDevices } from "../../../host/store.js";
import { getLabPaths, type LabPaths } from "../../../settings.js";

describe("store", () => {
  it("counts as closed without a mark", () => {
    assert.ok(!hasHostCrashed(undefined, "boot-one\n"));
  });

  it("is trusted if mounted in the current boot", () => {
    assert.ok(!hasHostCrashed("boot-one\n", "boot-one\n"));
    assert.ok(!hasHostCrashed("boot-one", "boot-one\n"));
  });

  it("is distrusted if the host crashed while the store was mounted", () => {
    assert.ok(hasHostCrashed("boot-one\n", "boot-two\n"));
    assert.ok(hasHostCrashed("", "boot-two\n"));
  });

  describe("that does not exist", () => {
    let folder = "";
    let paths: LabPaths;
    before(async () => {
      folder = await mkdtemp(join(tmpdir(), "lab-store-"));
      paths = { ...getLabPaths(), store: join(folder, "store"), storeFile: join(folder, "file") };
    });
    after(() => rm(folder, { recursive: true }));

    it("is not mounted", async () => {
      assert.equal(await isMounted(paths.store), false);
    });

    it("can be closed", async () => {
      await closeStore(paths);
    });

    it("contains no loop devices", async () => {
      assert.deepEqual(await listLoopDevices(join(paths.store, "running")), []);
    });
  });
});
