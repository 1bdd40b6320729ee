import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentProgress, type Progress } from "../../../../../base/progress.js";
import { referToSelf } from "../../../../../base/process-identity.js";
import { ensureOptionalAddon } from "../../../kubernetes/optional-addon-images.js";
import { computeDigest } from "../../../kubernetes/digest.js";
import { optionalAddons } from "../../../kubernetes/catalog/optional-addons.js";
import { ensureKubernetesSite } from "../../../kubernetes/build.js";
import { RegistryStore } from "../../../kubernetes/registry/registry-store.js";
import { listBlobsInUse, readSiteManifest } from "../../../kubernetes/site/site-manifest.js";
import { getKubernetesRelease } from "../../../kubernetes/catalog/versions.js";
import { nonEmpty } from "../../../../../test/support/non-empty.js";

const fingerprint = "AB".repeat(20);

/**
 * Stubs of the build tools. The real tools would run for minutes; the stubs only create files with
 * the right names.
 */
const tools: Readonly<Record<string, string>> = {
  go: `case "$1 $2" in
  "env GOVERSION") echo go1.26.8 ;;
  "mod download") echo "{\\"Dir\\":\\"$FOLDER\\"}" ;;
  "mod edit") echo '{}' ;;
  build*)
    echo "$PWD" >>"$FOLDER/builds"
    mkdir -p "$GOCACHE"
    while [ "$1" != -o ]; do shift; done
    out=$2; shift 2
    case "$out" in
      */) for package; do echo "$package" >"$out$(basename "$package")"; done ;;
      *) echo "$out" >"$out" ;;
    esac
    chmod -R 755 "$(dirname "$out")" ;;
esac`,
  // The host uses a mirror, and apt-get delivers all requested packages.
  find: `printf 'deb http://mirror.test/debian bookworm main\\n' >"$FOLDER/host.list"; echo "$FOLDER/host.list"`,
  "apt-get": `echo "$*" >>"$FOLDER/apt"
[[ $* == *" download "* ]] || exit 0
words="$*"
for name in \${words##* download }; do
  mkdir -p "$FOLDER/deb/DEBIAN"
  printf 'Package: %s\\nVersion: 1:1-1\\nArchitecture: amd64\\nMaintainer: a <a@b.test>\\nDescription: d\\n' "$name" >"$FOLDER/deb/DEBIAN/control"
  dpkg-deb --build "$FOLDER/deb" "\${name}_1%3a1-1_amd64.deb"
done`,
  mmdebstrap: "true",
  gcc: `while [ "$1" != -o ]; do shift; done; echo pause >"$2"`,
  gpg: `case "$*" in
  *--import*) cat >/dev/null ;;
  *--export-secret-keys*) echo SECRET ;;
  *--export*) echo PUBLIC ;;
  *--list-keys*) echo "fpr:::::::::${fingerprint}:" ;;
  *-sign*) cat ;;
esac`,
  gpgconf: "true",
  "apt-config": "true",
  unshare: `tree=$(printf '%s\\n' "$@" | grep "/root$")
mkdir -p "$tree"/{dev,proc,sys,run,tmp,var/cache/apt,var/log,var/lib/apt,etc/ssl/certs}
mkdir -p "$tree"/usr/{bin,share,lib/x86_64-linux-gnu}
echo certificates >"$tree/etc/ssl/certs/ca-certificates.crt"
touch "$tree/usr/bin/python3" "$tree/usr/bin/dash" "$tree/tmp/left"`,
};

describe("ensureKubernetesSite", function () {
  this.timeout(60_000);
  let folder: string;
  const saved = new Map(
    ["PATH", "XDG_CACHE_HOME", "STACKADM_LAB_MIRROR"].map((name) => [name, process.env[name]]),
  );

  before(() => {
    folder = mkdtempSync(join(tmpdir(), "stackadm-test-"));
    mkdirSync(join(folder, "bin"));
    for (const [name, script] of Object.entries(tools)) {
      const path = join(folder, "bin", name);
      writeFileSync(path, `#!/bin/bash\nset -euo pipefail\nFOLDER="${folder}"\n${script}\n`);
      chmodSync(path, 0o755);
    }
    process.env["PATH"] = `${join(folder, "bin")}:${saved.get("PATH") ?? ""}`;
    process.env["XDG_CACHE_HOME"] = folder;
    process.env["STACKADM_LAB_MIRROR"] = "never";
  });
  after(() => {
    for (const [name, value] of saved) {
      if (value === undefined) Reflect.deleteProperty(process.env, name);
      else process.env[name] = value;
    }
    rmSync(folder, { recursive: true });
  });

  const version = "1.36.3";
  const cache = () => join(folder, "stackadm", "lab", "kubernetes");
  const site = () => join(cache(), "site");
  const builds = () => {
    const file = join(folder, "builds");
    return existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n").length : 0;
  };
  const goComponents = getKubernetesRelease(version).components.filter(
    ({ source }) => source.kind !== "c",
  );
  const store = () => new RegistryStore(join(site(), "registry"));

  it("stops between two components and keeps the built ones", async () => {
    const stop = new AbortController();
    let steps = 0;
    const progress: Progress = {
      ...silentProgress,
      step: (title) => {
        if (++steps === 3) stop.abort();
        return silentProgress.step(title);
      },
    };
    await assert.rejects(
      ensureKubernetesSite({ version, progress, signal: stop.signal }),
      /abort/i,
    );
    const done = readdirSync(join(cache(), "components")).filter((name) => !name.endsWith(".part"));
    assert.ok(done.length >= 1 && done.length < goComponents.length);
    assert.equal(readSiteManifest(site(), version), undefined);
    assert.ok(!existsSync(join(cache(), "lock")));
  });

  it("builds the rest at the next call and returns the site's path", async () => {
    const facts = await ensureKubernetesSite({ version, progress: silentProgress });
    assert.deepEqual(facts, {
      version,
      directory: site(),
      aptPath: "v1.36/deb",
      keyFile: join(site(), "packages/v1.36/deb/Release.key"),
      keys: { kubernetes: fingerprint, containerd: fingerprint },
    });
    assert.equal(readFileSync(facts.keyFile, "utf8"), "PUBLIC\n");
  });

  it("stores every image under every name and tag in the registry", () => {
    for (const { repository, aliases = [], tags } of nonEmpty(
      getKubernetesRelease(version).images,
    )) {
      for (const name of [repository, ...aliases]) {
        for (const tag of nonEmpty(tags)) {
          const digest = store().tagged(name, tag);
          assert.ok(digest !== undefined && store().has(digest), `${name}:${tag}`);
        }
      }
    }
  });

  it("lists in the site's manifest all components and their differences to upstream", () => {
    const manifest = readSiteManifest(site(), version);
    assert.ok(manifest);
    assert.equal(manifest.components.length, getKubernetesRelease(version).components.length);
    const own = manifest.components.find(({ name }) => name === "livenessprobe");
    assert.match(own?.differs ?? "", /own program/);
    const agnhost = manifest.images.find(({ upstream }) => upstream.includes("agnhost"));
    assert.match(agnhost?.differs ?? "", /2\.63\.0/);
    assert.deepEqual(agnhost?.tags, ["2.53", "2.63.0"]);
  });

  it("does nothing if everything exists", async () => {
    const before = builds();
    const progress: Progress = { ...silentProgress, step: () => assert.fail("a step began") };
    await ensureKubernetesSite({ version, progress });
    assert.equal(builds(), before);
  });

  it("offers containerd in Docker's repository, not in Kubernetes'", () => {
    const place = join(site(), "packages");
    assert.ok(existsSync(join(place, "linux/debian/dists/bookworm/InRelease")));
    const names = readdirSync(join(place, "v1.36/deb"));
    assert.ok(!names.some((name) => name.startsWith("containerd")), names.join());
  });

  it("only writes the apt repositories for a site of an earlier release with one repository", async () => {
    const file = join(site(), `site-v${version}.json`);
    const manifest = JSON.parse(readFileSync(file, "utf8")) as { apt: Record<string, unknown> };
    delete manifest.apt["dockerKeyFingerprint"];
    writeFileSync(file, JSON.stringify(manifest));
    const before = builds();
    const titles: string[] = [];
    const step = (title: string) => (titles.push(title), silentProgress.step(title));
    await ensureKubernetesSite({ version, progress: { ...silentProgress, step } });
    assert.deepEqual(titles, ["Write the apt repositories"]);
    assert.equal(builds(), before);
  });

  it("writes a damaged image again without building", async () => {
    const [image] = readSiteManifest(site(), version)?.images ?? [];
    assert.ok(image);
    const before = builds();
    const others = new Set(listBlobsInUse(site()));
    others.delete(image.manifest);
    store().prune(others);
    await ensureKubernetesSite({ version, progress: silentProgress });
    assert.ok(store().has(image.manifest));
    assert.equal(builds(), before);
  });

  it("builds only the differing components of another minor, in addition to the first", async () => {
    const before = builds();
    const facts = await ensureKubernetesSite({ version: "1.35.4", progress: silentProgress });
    assert.equal(facts.aptPath, "v1.35/deb");
    assert.equal(builds() - before, 6, "kubernetes, three of etcd, coredns, cloud provider");
    assert.ok(store().tagged("kube-apiserver", "v1.35.4"));
    await ensureKubernetesSite({
      version,
      progress: {
        ...silentProgress,
        step: () => assert.fail("the first is not complete any more"),
      },
    });
  });

  it("stores one signing key for all versions, readable only by its owner", async () => {
    const { statSync } = await import("node:fs");
    assert.equal(statSync(join(cache(), "key", "secret.asc")).mode & 0o777, 0o600);
  });

  it("adds a requested add-on once, and returns the path of its manifests", async () => {
    for (const file of ["node/filesystem/etc/rc.local", "node/filesystem/sbin/start_runit"]) {
      mkdirSync(join(folder, file, ".."), { recursive: true });
      writeFileSync(join(folder, file), "#!/bin/sh\n");
    }
    mkdirSync(join(folder, "manifests"));
    for (const name of ["calico-vxlan", "canal"])
      writeFileSync(join(folder, "manifests", `${name}.yaml`), name);
    const before = builds();
    const { calico } = await ensureOptionalAddon("calico", { progress: silentProgress });
    // flannel was already built.
    assert.equal(builds(), before + 1);
    assert.equal(readFileSync(calico?.source ?? "", "utf8"), "calico-vxlan");
    assert.equal(calico?.sha256, computeDigest("calico-vxlan"));
    const kept = listBlobsInUse(site());
    for (const { repository, tags } of optionalAddons.calico().images)
      for (const tag of tags)
        assert.ok(kept.has(store().tagged(repository, tag) ?? ""), repository);
    await ensureOptionalAddon("calico", { progress: silentProgress });
    assert.equal(builds(), before + 1);
    assert.ok(
      existsSync((await ensureKubernetesSite({ version, progress: silentProgress })).keyFile),
    );
  });

  it("leaves no partial file and no blob that no image uses", () => {
    const names = readdirSync(cache(), { recursive: true }).map(String);
    assert.ok(!names.includes("go"));
    assert.deepEqual(
      names.filter((name) => name.endsWith(".part")),
      [],
    );
    assert.equal(store().prune(listBlobsInUse(site())), 0);
  });

  it("builds reduced Debian layers", () => {
    const layers = readdirSync(join(cache(), "layers")).filter((name) =>
      name.startsWith("debian-"),
    );
    // Three layers: Debian, Debian with additional packages, and the layer of images without
    // Debian.
    assert.equal(layers.length, 3);
  });

  it("waits for another building process, reports the process, and then uses its result", async () => {
    const lock = join(cache(), "lock");
    const manifest = join(site(), `site-v${version}.json`);
    const text = readFileSync(manifest, "utf8");
    rmSync(manifest);
    const said: string[] = [];
    const progress: Progress = {
      ...silentProgress,
      step: (title) => {
        said.push(title);
        return {
          update: (detail) => {
            said.push(detail);
            writeFileSync(manifest, text); // the other process writes the manifest at its end
            rmSync(lock);
          },
          done: () => void said.push("done"),
          failed: () => assert.fail("waiting failed"),
        };
      },
    };
    writeFileSync(lock, JSON.stringify({ ...referToSelf(), token: "", purpose: "building" }));
    await ensureKubernetesSite({ version, progress });
    assert.deepEqual(said, [`Wait for process ${process.pid}`, "building", "done"]);
  });

  it("refuses an unknown version before building anything", async () => {
    await assert.rejects(
      ensureKubernetesSite({ version: "1.30.0", progress: silentProgress }),
      /1\.36\.3/,
    );
  });
});
