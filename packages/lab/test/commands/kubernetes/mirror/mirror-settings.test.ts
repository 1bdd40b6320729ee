import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentProgress, type Progress } from "../../../../../../base/progress.js";
import { ensureOptionalAddon } from "../../../../kubernetes/optional-addon-images.js";
import { ensureKubernetesSite } from "../../../../kubernetes/build.js";
import { computeDigest } from "../../../../kubernetes/digest.js";
import { mirrorImages } from "../../../../kubernetes/mirror/mirror-images.js";
import { RegistryStore } from "../../../../kubernetes/registry/registry-store.js";
import { readAddedImages, readSiteManifest } from "../../../../kubernetes/site/site-manifest.js";
import { getKubernetesRelease } from "../../../../kubernetes/catalog/versions.js";
import { SmallMirror } from "../../../../../../test/support/machine/small-mirror.js";
import { nonEmpty } from "../../../../../../test/support/non-empty.js";

/** Stubs of the tools. For packages, apt-get is the real command. Build tools fail. */
const tools: Readonly<Record<string, string>> = {
  skopeo: `ref=\${*: -2:1}; folder=\${*: -1}; folder=\${folder#dir:}
[[ $* == *"--override-os linux --override-arch amd64"* && $* == *--preserve-digests* ]] || exit 2
grep -qxF "\${ref#docker://}" "$FOLDER/lost" && { echo 'level=fatal msg="reading it: manifest unknown"' >&2; exit 1; }
add() { digest=$(sha256sum <<<"$1"); cat <<<"$1" >"$folder/\${digest%% *}"; echo "sha256:\${digest%% *}"; }
printf '{ "config":  {"digest": "%s"}, "layers": [{"digest": "%s"}] }' "$(add "config of $ref")" "$(add "layer of $ref")" >"$folder/manifest.json"
cp "$folder/manifest.json" "$FOLDER/published/\${ref//[\\/:]/_}"`,
  podman: `grep -qF "\${*: -1}" "$FOLDER/unreachable" && { echo "Error: lookup x: no such host" >&2; exit 125; }; echo '{}'`,
  go: `case "$1 $2" in
  "env GOVERSION") echo go1.26.8 ;;
  "mod download") echo "{\\"Dir\\":\\"$FOLDER/module\\"}" ;;
  "mod edit") echo '{}' ;;
  *) echo "nothing is to be built here" >&2; exit 9 ;;
esac`,
  // The host uses no mirror, and nothing is installed.
  find: "true",
  "apt-get": `[[ $* == *Dir::State=* ]] || exit 9; exec /usr/bin/apt-get "$@"`,
  gcc: "exit 9",
  mmdebstrap: "exit 9",
};

const version = "1.36.3";
const of = getKubernetesRelease(version);

describe("mirrored upstream images and packages", function () {
  this.timeout(60_000);
  let folder: string;
  let mirror: SmallMirror;
  const saved = new Map(["PATH", "XDG_CACHE_HOME"].map((name) => [name, process.env[name]]));
  const calls = () => {
    const file = join(folder, "calls");
    const text = existsSync(file) ? readFileSync(file, "utf8").trimEnd() : "";
    rmSync(file, { force: true });
    return text === "" ? [] : text.split("\n");
  };
  const list = (name: string, lines: readonly string[] = []) => {
    writeFileSync(join(folder, name), lines.map((line) => `${line}\n`).join(""));
  };

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "stackadm-test-"));
    for (const name of ["bin", "published", "module/manifests"])
      mkdirSync(join(folder, name), { recursive: true });
    for (const [name, script] of Object.entries(tools)) {
      const path = join(folder, "bin", name);
      const record = `printf '%s\\n' "${name} $*" >>"$FOLDER/calls"`;
      writeFileSync(path, `#!/bin/bash\nset -eu\nFOLDER="${folder}"\n${record}\n${script}\n`);
      chmodSync(path, 0o755);
    }
    process.env["PATH"] = `${join(folder, "bin")}:${saved.get("PATH") ?? ""}`;
    process.env["XDG_CACHE_HOME"] = folder;
    mirror = await SmallMirror.open(join(folder, "mirror"));
    for (const [name, one] of Object.entries(of.packageVersions)) mirror.addPackage(name, one);
    await mirror.publishPackages();
  });
  beforeEach(() => {
    list("lost");
    list("unreachable");
    calls();
    mirror.requests.length = 0;
  });
  after(async () => {
    for (const [name, value] of saved) {
      if (value === undefined) Reflect.deleteProperty(process.env, name);
      else process.env[name] = value;
    }
    await mirror.close();
    rmSync(folder, { recursive: true });
  });

  const cache = () => join(folder, "stackadm/lab/kubernetes");
  const site = () => join(cache(), "site");
  /** Returns the site's folder for a package file. */
  const offeredIn = (file: string) =>
    file.startsWith("containerd.io_")
      ? join(site(), "packages/linux/debian/dists/bookworm/pool/stable/amd64")
      : join(site(), "packages/v1.36/deb");
  const store = () => new RegistryStore(join(site(), "registry"));
  const published = (reference: string) =>
    readFileSync(
      join(folder, "published", `docker://${reference}`.replaceAll(/[/:]/g, "_")),
      "utf8",
    );
  const noting = () => {
    const notes: string[] = [];
    const progress: Progress = { ...silentProgress, note: (text) => void notes.push(text) };
    return { notes, progress };
  };

  describe("if all are available", () => {
    it("replace all compilation", async () => {
      const { notes, progress } = noting();
      const facts = await ensureKubernetesSite({ version, progress, mirror: mirror.settings });
      assert.equal(facts.aptPath, "v1.36/deb");
      assert.deepEqual(
        calls().filter((call) => call.startsWith("go ")),
        [],
      );
      assert.deepEqual(readSiteManifest(site(), version)?.components, []);
      assert.ok(
        notes.every((note) => !note.includes("builds")),
        notes.join(),
      );
    });

    it("include every image under every name and tag, with upstream's manifest byte for byte", () => {
      for (const { upstream, repository, aliases = [], tags } of nonEmpty(of.images)) {
        const name = upstream.replace(/:[^:]*$/, "");
        for (const tag of nonEmpty(tags)) {
          const digest = computeDigest(published(`${name}:${tag}`));
          for (const one of [repository, ...aliases])
            assert.equal(store().tagged(one, tag), digest);
          assert.ok(store().has(digest));
        }
      }
    });

    it("are recorded with their digests", () => {
      const manifest = readSiteManifest(site(), version);
      const pause = manifest?.images.find(({ upstream }) => upstream.includes("/pause:"));
      assert.equal(pause?.manifest, computeDigest(published(pause?.upstream ?? "")));
      assert.ok(manifest?.images.every(({ mirrored }) => mirrored));
      const debs = manifest?.apt.mirrored ?? {};
      assert.equal(Object.keys(debs).length, Object.keys(of.packageVersions).length);
      for (const [file, digest] of Object.entries(debs))
        for (const place of [join(folder, "mirror"), offeredIn(file)])
          assert.equal(computeDigest(readFileSync(join(place, file))), digest);
    });

    it("are not requested again, even after an interruption", async () => {
      await ensureKubernetesSite({ version, progress: silentProgress, mirror: mirror.settings });
      rmSync(join(site(), `site-v${version}.json`));
      await ensureKubernetesSite({ version, progress: silentProgress, mirror: mirror.settings });
      assert.deepEqual(mirror.requests, []);
      assert.deepEqual(
        calls().filter((call) => /^(skopeo|podman) /.test(call)),
        [],
      );
      assert.ok(readSiteManifest(site(), version)?.images.every(({ mirrored }) => mirrored));
    });

    it("include a requested add-on, with manifests that need no compilation", async () => {
      for (const name of ["calico-vxlan", "canal"])
        writeFileSync(join(folder, "module/manifests", `${name}.yaml`), name);
      for (const name of ["etc", "sbin"])
        mkdirSync(join(folder, "module/node/filesystem", name), { recursive: true });
      const options = { progress: silentProgress, mirror: mirror.settings };
      const { canal } = await ensureOptionalAddon("calico", options);
      assert.equal(readFileSync(canal?.source ?? "", "utf8"), "canal");
      assert.ok(calls().includes("podman manifest inspect docker.io/calico/cni:v3.28.5"));
      assert.ok(readAddedImages(site(), "calico")?.images.every(({ mirrored }) => mirrored));
      await ensureOptionalAddon("calico", options);
      assert.deepEqual(
        calls().filter((call) => !call.startsWith("go env")),
        [],
      );
    });

    it("are not used with STACKADM_LAB_MIRROR=never", async () => {
      process.env["STACKADM_LAB_MIRROR"] = "never";
      try {
        await assert.rejects(
          ensureKubernetesSite({ version, progress: silentProgress }),
          /nothing is to be built/,
        );
      } finally {
        Reflect.deleteProperty(process.env, "STACKADM_LAB_MIRROR");
      }
      assert.deepEqual(mirror.requests, []);
      assert.ok(calls().every((call) => !/^(skopeo|podman) /.test(call)));
    });
  });

  describe("if an image is unavailable", () => {
    const take = (progress: Progress) =>
      mirrorImages(of.images, {
        settings: mirror.settings,
        progress,
        site: join(folder, "elsewhere"),
        cache: join(folder, "elsewhere/mirror"),
      });
    const upstreams = of.images.map(({ upstream }) => upstream);

    it("omit only this image, and report it", async () => {
      const lost = "registry.k8s.io/sig-storage/livenessprobe:v2.17.0";
      list("lost", [lost]);
      const { notes, progress } = noting();
      const taken = (await take(progress)).map(({ upstream }) => upstream);
      assert.deepEqual(
        upstreams.filter((one) => !taken.includes(one)),
        [lost],
      );
      assert.deepEqual(notes, [`The lab builds its own in place of ${lost}: manifest unknown`]);
      rmSync(join(folder, "elsewhere"), { recursive: true });
    });

    it("are completed by building only this image's programs", async () => {
      list("lost", ["registry.k8s.io/sig-storage/livenessprobe:v2.17.0"]);
      const titles: string[] = [];
      const step = (title: string) => (titles.push(title), silentProgress.step(title));
      process.env["XDG_CACHE_HOME"] = join(folder, "partly");
      try {
        const partly = { version, progress: { ...silentProgress, step }, mirror: mirror.settings };
        await assert.rejects(ensureKubernetesSite(partly), /nothing is to be built/);
      } finally {
        process.env["XDG_CACHE_HOME"] = folder;
      }
      assert.deepEqual(
        titles.filter((title) => title.startsWith("Build")),
        ["Build livenessprobe v2.17.0"],
      );
      assert.equal(calls().filter((call) => call.startsWith("go build")).length, 1);
    });

    it("are requested only once from an unreachable registry", async () => {
      list(
        "unreachable",
        upstreams.filter((one) => one.startsWith("registry.k8s.io/")),
      );
      const { notes, progress } = noting();
      const taken = await take(progress);
      assert.ok(
        taken.length > 0 && taken.every(({ upstream }) => !upstream.startsWith("registry")),
      );
      assert.equal(calls().filter((call) => call.includes("registry.k8s.io/")).length, 1);
      const why =
        "Images are not mirrored from registry.k8s.io (no such host); the lab builds its own.";
      assert.deepEqual(notes, [why]);
    });
  });
});
