import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isMounted } from "../../../host/mounts.js";
import { closeStore, hasHostCrashed, listLoopDevices } from "../../../host/store.js";
import { getLabPaths, type LabPaths } from "../../../settings.js";

describe("lab/host/store", () => {
  it("takes a store without a mark for one that was closed", () => {
    assert.ok(!hasHostCrashed(undefined, "boot-one\n"));
  });

  it("trusts a store that was left mounted in this very boot", () => {
    assert.ok(!hasHostCrashed("boot-one\n", "boot-one\n"));
    assert.ok(!hasHostCrashed("boot-one", "boot-one\n"));
  });

  it("doubts a store that was mounted when the host went down", () => {
    assert.ok(hasHostCrashed("boot-one\n", "boot-two\n"));
    assert.ok(hasHostCrashed("", "boot-two\n"));
  });

  describe("that is not there", () => {
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

    it("holds no loop devices", async () => {
      assert.deepEqual(await listLoopDevices(join(paths.store, "running")), []);
    });
  });
});
