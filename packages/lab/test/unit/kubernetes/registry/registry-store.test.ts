import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { renderImage } from "../../../../kubernetes/registry/oci.js";
import { RegistryStore, storePaths } from "../../../../kubernetes/registry/registry-store.js";
import { getKubernetesRelease } from "../../../../kubernetes/catalog/versions.js";

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const pause = getKubernetesRelease("1.36.3").images.find(
  ({ repository }) => repository === "pause",
);
assert.ok(pause);

describe("RegistryStore", () => {
  let folder: string;
  let store: RegistryStore;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "stackadm-test-"));
    store = new RegistryStore(join(folder, "registry"));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  const read = (path: string) => readFileSync(join(folder, "registry", path), "utf8");
  const addLayer = (content: string) => {
    const file = join(folder, "layer.tar");
    writeFileSync(file, content);
    return store.addFile(file);
  };
  const publish = async (content: string, repository = "a/b", tags = ["1", "2"]) => {
    const layers = [await addLayer(content)];
    const image = renderImage(pause, layers, {});
    store.publish(repository, tags, image, layers);
    return { layers, image };
  };

  it("moves a file to its digest's path", async () => {
    const blob = await addLayer("layer");
    assert.deepEqual(blob, { digest: sha256("layer"), size: 5 });
    assert.equal(
      read(`docker/registry/v2/blobs/sha256/${blob.digest.slice(0, 2)}/${blob.digest}/data`),
      "layer",
    );
    assert.ok(store.has(blob.digest));
    assert.ok(!existsSync(join(folder, "layer.tar")));
  });

  it("contains only added blobs", () => {
    assert.ok(!store.has("0".repeat(64)));
  });

  it("links tags, revision, configuration and layers as docker-registry does", async () => {
    const { layers, image } = await publish("layer");
    const root = "docker/registry/v2/repositories/a/b";
    const link = `sha256:${image.digest}`;
    for (const tag of ["1", "2"]) {
      assert.equal(read(`${root}/_manifests/tags/${tag}/current/link`), link);
      assert.equal(read(`${root}/_manifests/tags/${tag}/index/sha256/${image.digest}/link`), link);
    }
    assert.equal(read(`${root}/_manifests/revisions/sha256/${image.digest}/link`), link);
    for (const digest of [image.configDigest, layers[0]?.digest ?? ""]) {
      assert.equal(read(`${root}/_layers/sha256/${digest}/link`), `sha256:${digest}`);
    }
  });

  it("stores manifest and configuration as blobs, byte for byte", async () => {
    const { image } = await publish("layer");
    assert.equal(read(storePaths.blob(image.digest)), image.manifest);
    assert.equal(read(storePaths.blob(image.configDigest)), image.config);
    assert.equal(sha256(read(storePaths.blob(image.digest))), image.digest);
  });

  it("returns the digest of a tag, and undefined without the tag", async () => {
    const { image } = await publish("layer");
    assert.equal(store.tagged("a/b", "1"), image.digest);
    assert.equal(store.tagged("a/b", "3"), undefined);
    assert.equal(store.tagged("a", "1"), undefined);
  });

  it("moves a tag to a newer image and keeps the older revision", async () => {
    const before = await publish("old");
    const after = await publish("new");
    assert.equal(store.tagged("a/b", "1"), after.image.digest);
    assert.ok(store.has(before.image.digest));
  });

  it("is the same after publishing twice", async () => {
    await publish("layer");
    const list = () => readdirSync(folder, { recursive: true }).sort();
    const before = list();
    await publish("layer");
    assert.deepEqual(list(), before);
  });

  it("leaves no partial file", async () => {
    await publish("layer");
    const files = readdirSync(folder, { recursive: true }).map(String);
    assert.deepEqual(
      files.filter((name) => name.endsWith(".part")),
      [],
    );
  });

  it("deletes unused blobs and returns the freed bytes", async () => {
    const { layers, image } = await publish("layer");
    const stray = await addLayer("unused layer");
    const keep = [image.digest, image.configDigest, ...layers.map(({ digest }) => digest)];
    assert.equal(store.prune(new Set(keep)), stray.size);
    assert.ok(!store.has(stray.digest));
    assert.ok(keep.every((digest) => store.has(digest)));
  });

  it("deletes nothing from an empty store", () => {
    assert.equal(store.prune(new Set()), 0);
  });
});
