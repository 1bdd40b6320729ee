import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isMounted } from "../../../host/mounts.js";
import { closeStore, crashed, loopsIn } from "../../../host/store.js";
import { labPaths, type LabPaths } from "../../../settings.js";

describe("lab/host/store", () => {
  it("takes a store without a mark for one that was closed", () => {
    assert.ok(!crashed(undefined, "boot-one\n"));
  });

  it("trusts a store that was left mounted in this very boot", () => {
    assert.ok(!crashed("boot-one\n", "boot-one\n"));
    assert.ok(!crashed("boot-one", "boot-one\n"));
  });

  it("doubts a store that was mounted when the host went down", () => {
    assert.ok(crashed("boot-one\n", "boot-two\n"));
    assert.ok(crashed("", "boot-two\n"));
  });

  describe("that is not there", () => {
    let folder = "";
    let paths: LabPaths;
    before(async () => {
      folder = await mkdtemp(join(tmpdir(), "lab-store-"));
      paths = { ...labPaths(), store: join(folder, "store"), storeFile: join(folder, "file") };
    });
    after(() => rm(folder, { recursive: true }));

    it("is not mounted", async () => {
      assert.equal(await isMounted(paths.store), false);
    });

    it("can be closed", async () => {
      await closeStore(paths);
    });

    it("holds no loop devices", async () => {
      assert.deepEqual(await loopsIn(join(paths.store, "running")), []);
    });
  });
});
