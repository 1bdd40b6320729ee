import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentProgress, type Progress } from "../../../../base/progress.js";
import { ensureKubernetesSite } from "../../../../packages/lab/kubernetes/build.js";
import { computeDigest } from "../../../../packages/lab/kubernetes/digest.js";
import {
  RegistryStore,
  storePaths,
} from "../../../../packages/lab/kubernetes/registry/registry-store.js";
import { getKubernetesRelease } from "../../../../packages/lab/kubernetes/catalog/versions.js";
import { SmallMirror } from "../../../support/machine/small-mirror.js";

const version = "1.36.3";
const of = getKubernetesRelease(version);

/**
 * Runs the real download tools. These tools read the addresses of the registries from a file below
 * HOME.
 */
describe("the download of all upstream files from a small mirror", function () {
  this.timeout(5 * 60_000);
  let folder: string;
  let mirror: SmallMirror;
  const saved = new Map(["HOME", "XDG_CACHE_HOME"].map((name) => [name, process.env[name]]));
  const manifests = new Map<string, string>();
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "stackadm-test-"));
    mirror = await SmallMirror.open(join(folder, "mirror"));
    for (const { repository, tags } of of.images)
      for (const tag of tags)
        manifests.set(`${repository}:${tag}`, mirror.addImage(repository, tag));
    for (const [name, one] of Object.entries(of.packageVersions)) mirror.addPackage(name, one);
    await mirror.publishPackages();
    const hosts = of.images.map(({ upstream }) => upstream.split("/")[0] ?? "");
    const containers = join(folder, ".config/containers");
    mkdirSync(containers, { recursive: true });
    writeFileSync(join(containers, "registries.conf"), mirror.registriesConf([...new Set(hosts)]));
    process.env["HOME"] = process.env["XDG_CACHE_HOME"] = folder;
  });
  after(async () => {
    for (const [name, value] of saved) {
      if (value === undefined) Reflect.deleteProperty(process.env, name);
      else process.env[name] = value;
    }
    await mirror.close();
    rmSync(folder, { recursive: true });
  });

  it("stores the amd64 image of each multi-architecture image unchanged, and builds nothing", async () => {
    const titles: string[] = [];
    const step = (title: string) => (titles.push(title), silentProgress.step(title));
    const progress: Progress = { ...silentProgress, step };
    const { directory } = await ensureKubernetesSite({
      version,
      progress,
      mirror: mirror.settings,
    });
    assert.deepEqual(
      titles.filter((title) => /^(Build|Write the images)/.test(title)),
      [],
    );
    const registry = join(directory, "registry");
    const store = new RegistryStore(registry);
    for (const [name, manifest] of manifests) {
      const [repository = "", tag = ""] = name.split(":");
      const digest = computeDigest(manifest);
      assert.equal(store.tagged(repository, tag), digest, name);
      assert.equal(readFileSync(join(registry, storePaths.blob(digest)), "utf8"), manifest);
    }
  });
});
