import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { goldenKey } from "../../cloud/golden-cloud.js";
import { ensureFrontCertificate } from "../../front/authority.js";
import { imageKey } from "../../image/image.js";
import { canonical, inputKey } from "../../input-key.js";
import { labPaths, labSettings } from "../../settings.js";

describe("lab/input-key", () => {
  const folder = mkdtempSync(join(tmpdir(), "stackadm-test-"));
  const paths = { ...labPaths(), front: folder };
  after(() => {
    rmSync(folder, { recursive: true });
  });

  it("does not depend on the order of keys", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (object) => {
        const reversed = Object.fromEntries(Object.entries(object).reverse());
        assert.equal(canonical(reversed), canonical(object));
      }),
    );
  });

  it("keeps the order of lists", () => {
    assert.notEqual(inputKey(["a", "b"]), inputKey(["b", "a"]));
  });

  it("tells different inputs apart", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
        fc.pre(canonical(one) !== canonical(other));
        assert.notEqual(inputKey(one), inputKey(other));
      }),
    );
  });

  it("gives a name that can be a folder", () => {
    assert.match(inputKey("anything"), /^[0-9a-f]{12}$/);
  });

  it("is the same for a golden cloud at every call, passwords being random", () => {
    assert.equal(goldenKey(labSettings({}), paths), goldenKey(labSettings({}), paths));
    assert.equal(imageKey(paths), imageKey(paths));
  });

  it("changes for a golden cloud with the lab's networks", () => {
    const moved = labSettings({ STACKADM_LAB_MANAGEMENT: "10.213.0.0/24" });
    assert.notEqual(goldenKey(moved, paths), goldenKey(labSettings({}), paths));
  });

  it("changes for image and golden cloud with the authority that they trust", async () => {
    const before = [imageKey(paths), goldenKey(labSettings({}), paths)];
    await ensureFrontCertificate(paths);
    const after = [imageKey(paths), goldenKey(labSettings({}), paths)];
    for (const [index, key] of after.entries()) assert.notEqual(key, before[index]);
  });
});
