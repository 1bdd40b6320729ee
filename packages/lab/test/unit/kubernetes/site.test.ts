import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  listBlobsInUse,
  readAddedImages,
  writeAddedImages,
  readSiteManifest,
  describeSiteComponents,
  computeSiteKey,
  writeSiteManifest,
  type SiteManifest,
} from "../../../kubernetes/site/site-manifest.js";
import { getKubernetesRelease } from "../../../kubernetes/catalog/versions.js";

const manifest = (version: string, blobs: string[]): SiteManifest => ({
  version,
  key: "key",
  apt: { path: "v1.36/deb", keyFingerprint: "0".repeat(40) },
  components: [],
  images: [
    {
      upstream: `registry.k8s.io/kube-proxy:v${version}`,
      repositories: ["kube-proxy"],
      tags: [`v${version}`],
      manifest: `manifest-${version}`,
      blobs,
    },
  ],
});

describe("site manifest", () => {
  let site: string;
  beforeEach(() => {
    site = mkdtempSync(join(tmpdir(), "stackadm-test-"));
  });
  afterEach(() => {
    rmSync(site, { recursive: true });
  });

  it("is read as written", () => {
    writeSiteManifest(site, manifest("1.36.3", ["a"]));
    assert.deepEqual(readSiteManifest(site, "1.36.3"), manifest("1.36.3", ["a"]));
    assert.deepEqual(readdirSync(site), ["site-v1.36.3.json"]);
  });

  it("is undefined for a version that was not built", () => {
    assert.equal(readSiteManifest(site, "1.36.3"), undefined);
  });

  it("protects the blobs of every version in the site", () => {
    writeSiteManifest(site, manifest("1.36.3", ["shared", "one"]));
    writeSiteManifest(site, manifest("1.35.4", ["shared", "two"]));
    assert.deepEqual([...listBlobsInUse(site)].sort(), [
      "manifest-1.35.4",
      "manifest-1.36.3",
      "one",
      "shared",
      "two",
    ]);
  });

  it("protects the blobs of added images", () => {
    const { images } = manifest("1.36.3", ["added"]);
    assert.equal(readAddedImages(site, "calico"), undefined);
    writeAddedImages(site, "calico", { key: "k", images });
    assert.deepEqual(readAddedImages(site, "calico"), { key: "k", images });
    assert.deepEqual([...listBlobsInUse(site)].sort(), ["added", "manifest-1.36.3"]);
  });

  it("protects nothing in an empty site", () => {
    assert.equal(listBlobsInUse(site).size, 0);
  });
});

describe("site key", () => {
  const of = getKubernetesRelease("1.36.3");

  it("is the same for the same release", () => {
    assert.equal(computeSiteKey(of), computeSiteKey(getKubernetesRelease("1.36.3")));
  });

  it("changes with version, components, images and packages", () => {
    const keys = [
      of,
      getKubernetesRelease("1.35.4"),
      { ...of, components: of.components.slice(1) },
      { ...of, images: of.images.slice(1) },
      { ...of, packageVersions: { ...of.packageVersions, kubelet: "1.36.4-1.1" } },
    ].map(computeSiteKey);
    assert.equal(new Set(keys).size, keys.length);
  });
});

describe("describeSiteComponents", () => {
  it("returns modules and, if any, differences to upstream", () => {
    const components = getKubernetesRelease("1.36.3").components.slice(0, 2);
    const built = new Map(
      components.map((component) => [
        component.name,
        { component, directory: "", key: "", seconds: 0 },
      ]),
    );
    assert.deepEqual(describeSiteComponents(built), [
      { name: "kubernetes", version: "v1.36.3", madeFrom: "k8s.io/kubernetes@v1.36.3" },
      {
        name: "containerd",
        version: "v2.3.7",
        madeFrom: "github.com/containerd/containerd/v2@v2.3.7",
        differs: "without the btrfs, zfs, devmapper and aufs snapshotters",
      },
    ]);
  });
});
