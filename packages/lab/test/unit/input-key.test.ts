import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { computeGoldenCloudKey } from "../../cloud/golden-cloud.js";
import { ensureFrontAuthority } from "../../front/authority.js";
import { computeServerImageKey } from "../../image/image.js";
import { renderCanonicalJson, computeInputKey } from "../../input-key.js";
import { getLabPaths, readLabSettings } from "../../settings.js";

describe("input key", () => {
  const folder = mkdtempSync(join(tmpdir(), "stackadm-test-"));
  const paths = { ...getLabPaths(), front: folder };
  after(() => {
    rmSync(folder, { recursive: true });
  });

  it("does not depend on the order of keys", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (object) => {
        const reversed = Object.fromEntries(Object.entries(object).reverse());
        assert.equal(renderCanonicalJson(reversed), renderCanonicalJson(object));
      }),
    );
  });

  it("depends on the order of lists", () => {
    assert.notEqual(computeInputKey(["a", "b"]), computeInputKey(["b", "a"]));
  });

  it("differs for different inputs", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
        fc.pre(renderCanonicalJson(one) !== renderCanonicalJson(other));
        assert.notEqual(computeInputKey(one), computeInputKey(other));
      }),
    );
  });

  it("is a valid directory name", () => {
    assert.match(computeInputKey("anything"), /^[0-9a-f]{12}$/);
  });

  it("is the same for a golden cloud at every call, although passwords are random", () => {
    assert.equal(
      computeGoldenCloudKey(readLabSettings({}), paths),
      computeGoldenCloudKey(readLabSettings({}), paths),
    );
    assert.equal(computeServerImageKey(paths), computeServerImageKey(paths));
  });

  it("changes for a golden cloud with the lab's networks", () => {
    const moved = readLabSettings({ STACKADM_LAB_MANAGEMENT: "10.213.0.0/24" });
    assert.notEqual(
      computeGoldenCloudKey(moved, paths),
      computeGoldenCloudKey(readLabSettings({}), paths),
    );
  });

  it("changes for image and golden cloud with the trusted authority", async () => {
    const before = [
      computeServerImageKey(paths),
      computeGoldenCloudKey(readLabSettings({}), paths),
    ];
    await ensureFrontAuthority(paths);
    const after = [computeServerImageKey(paths), computeGoldenCloudKey(readLabSettings({}), paths)];
    for (const [index, key] of after.entries()) assert.notEqual(key, before[index]);
  });
});
