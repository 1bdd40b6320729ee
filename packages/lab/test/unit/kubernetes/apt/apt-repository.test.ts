import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
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
import { silentProgress } from "../../../../../../base/progress.js";
import {
  dockerSuites,
  replaceDirectory,
  writeDockerRepository,
  writeKubernetesRepository,
} from "../../../../kubernetes/apt/apt-repository.js";
import type { BuiltComponent } from "../../../../kubernetes/compile/build-component.js";
import {
  getDebFileName,
  debPackages,
  dockerPackages,
} from "../../../../kubernetes/catalog/deb-package-table.js";
import type { SigningKey } from "../../../../kubernetes/apt/signing-key.js";
import { getKubernetesRelease as releaseOf } from "../../../../kubernetes/catalog/versions.js";
import { nonEmpty } from "../../../../../../test/support/non-empty.js";

const release = releaseOf("1.36.3");
const key: SigningKey = {
  fingerprint: "0".repeat(40),
  publicKey: "public key",
  expired: () => Promise.resolve("expired key"),
  sign: (text) => Promise.resolve({ inline: `signed ${text}`, detached: "signature" }),
};

const own = debPackages.filter(({ name }) => !dockerPackages.includes(name));

/** Returns fake build results of all components: one script per program. */
function builtIn(folder: string): Map<string, BuiltComponent> {
  return new Map(
    release.components.map((component): [string, BuiltComponent] => {
      const home = join(folder, "built", component.name);
      mkdirSync(home, { recursive: true });
      for (const program of Object.keys(component.programs)) {
        writeFileSync(join(home, program), `#!/bin/sh\n# ${program}\n`, { mode: 0o755 });
      }
      return [component.name, { component, directory: home, key: "one", seconds: 0 }];
    }),
  );
}

const sha256 = (text: string | Buffer) => createHash("sha256").update(text).digest("hex");

describe("writeKubernetesRepository", function () {
  this.timeout(60_000);
  let folder: string;
  let directory: string;
  let built: Map<string, BuiltComponent>;
  let mirrored = new Map<string, string>();
  const write = (signing = key) =>
    writeKubernetesRepository({
      release,
      built,
      directory,
      mirrored,
      key: signing,
      step: silentProgress.step(""),
    });
  const read = (name: string) => readFileSync(join(directory, name), "utf8");
  const deb = (name: string) =>
    join(directory, getDebFileName(name, release.packageVersions[name] ?? ""));

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "stackadm-test-"));
    directory = join(folder, "apt", "v1.36", "deb");
    built = builtIn(folder);
    assert.equal(await write(), true);
  });
  after(() => {
    rmSync(folder, { recursive: true });
  });

  it("writes every package and no partial file", () => {
    assert.deepEqual(
      readdirSync(directory).sort(),
      [
        ...own.map(({ name }) => getDebFileName(name, release.packageVersions[name] ?? "")),
        ...["InRelease", "Packages", "Release", "Release.gpg", "Release.key"],
        ...["Release.key.expired", "made-of"],
      ].sort(),
    );
    assert.deepEqual(readdirSync(join(directory, "..")), ["deb"]);
  });

  it("writes matching digests, from the signature to each file", () => {
    assert.equal(read("InRelease"), `signed ${read("Release")}`);
    assert.ok(read("Release").includes(sha256(read("Packages"))));
    const digests = [...read("Packages").matchAll(/^SHA256: (\S+)$/gm)].map((match) => match[1]);
    assert.deepEqual(
      digests,
      own.map(({ name }) => sha256(readFileSync(deb(name)))),
    );
    assert.equal(read("Release.key"), "public key");
    assert.equal(read("Release.key.expired"), "expired key");
  });

  it("writes packages that dpkg can read, with files of root", () => {
    const info = execFileSync("dpkg-deb", ["--field", deb("kubelet")], { encoding: "utf8" });
    assert.match(info, /^Version: 1\.36\.3-1\.1$/m);
    const content = execFileSync("dpkg-deb", ["--contents", deb("kubeadm")], { encoding: "utf8" });
    assert.match(content, /^-rwxr-xr-x root\/root .* \.\/usr\/bin\/kubeadm$/m);
    assert.match(content, /^-rw-r--r-- root\/root .*kubelet\.service\.d\/10-kubeadm\.conf$/m);
  });

  it("adds maintainer scripts only to packages with a unit", () => {
    const control = (name: string) =>
      execFileSync("dpkg-deb", ["--ctrl-tarfile", deb(name)]).toString("latin1");
    assert.ok(control("kubelet").includes("./postinst"));
    assert.ok(!control("kubectl").includes("./postinst"));
  });

  it("keeps the repository if its inputs are unchanged, and else rewrites it", async () => {
    const before = read("Release");
    assert.equal(await write(), false);
    assert.equal(read("Release"), before);
    const kubernetes = built.get("kubernetes");
    assert.ok(kubernetes);
    built.set("kubernetes", { ...kubernetes, key: "two" });
    assert.equal(await write(), true);
  });

  it("keeps the repository if only an image's component changed", async () => {
    const coredns = built.get("coredns");
    assert.ok(coredns);
    built.set("coredns", { ...coredns, key: "two" });
    assert.equal(await write(), false);
  });

  it("replaces a built package by upstream's own", async () => {
    const root = join(folder, "kubectl");
    const control = ["Package: kubectl", "Version: 1.36.3-1.1", "Architecture: amd64"];
    const whose = ["Maintainer: upstream <a@b.test>", "Description: d", ""];
    mkdirSync(join(root, "DEBIAN"), { recursive: true });
    writeFileSync(join(root, "DEBIAN", "control"), [...control, ...whose].join("\n"));
    const file = join(folder, "kubectl_1.36.3-1.1_amd64.deb");
    execFileSync("dpkg-deb", ["--build", root, file]);
    mirrored = new Map([["kubectl", file]]);
    assert.equal(await write(), true);
    assert.deepEqual(readFileSync(deb("kubectl")), readFileSync(file));
    assert.equal(read("Packages").match(/^Package: kubectl$/gm)?.length, 1);
    assert.ok(read("Packages").includes("Maintainer: upstream"));
    assert.equal(await write(), false);
    mirrored = new Map();
    assert.equal(await write(), true);
    assert.ok(!read("Packages").includes("Maintainer: upstream"));
  });

  it("keeps the earlier repository if writing fails", async () => {
    const before = read("InRelease");
    const broken: SigningKey = {
      ...key,
      fingerprint: "2".repeat(40),
      sign: () => Promise.reject(new Error("no key")),
    };
    await assert.rejects(write(broken), /no key/);
    assert.equal(read("InRelease"), before);
  });
});

describe("writeDockerRepository", function () {
  this.timeout(60_000);
  let folder: string;
  const directory = () => join(folder, "linux");
  const write = (built = builtIn(folder)) =>
    writeDockerRepository({
      release,
      built,
      mirrored: new Map<string, string>(),
      directory: directory(),
      key,
      step: silentProgress.step(""),
    });
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "stackadm-test-"));
    assert.equal(await write(), true);
  });
  after(() => {
    rmSync(folder, { recursive: true });
  });

  it("writes only containerd.io in every suite, and its earlier build in a component, with matching digests from the signature down", () => {
    for (const [distribution, codenames] of nonEmpty(Object.entries(dockerSuites))) {
      const root = join(directory(), distribution);
      assert.equal(readFileSync(join(root, "gpg"), "utf8"), "public key");
      for (const codename of codenames) {
        const suite = join(root, "dists", codename);
        const text = readFileSync(join(suite, "InRelease"), "utf8");
        assert.ok(text.startsWith("signed ") && text.includes(`Codename: ${codename}\n`));
        assert.match(text, /^Components: stable test$/m);
        for (const [component, version] of [
          ["stable", "2.3.7-1"],
          ["test", "2.3.7-0"],
        ] as const) {
          const packages = readFileSync(join(suite, component, "binary-amd64/Packages"), "utf8");
          assert.ok(text.includes(` ${sha256(packages)} `));
          const [, file = ""] = /^Filename: (.*)$/m.exec(packages) ?? [];
          const pool = `dists/${codename}/pool/${component}/amd64`;
          assert.equal(file, `${pool}/containerd.io_${version}_amd64.deb`);
          assert.ok(packages.includes(`SHA256: ${sha256(readFileSync(join(root, file)))}\n`));
          assert.deepEqual(packages.match(/^Package: .*$/gm), ["Package: containerd.io"]);
          assert.deepEqual(packages.match(/^Version: .*$/gm), [`Version: ${version}`]);
        }
      }
    }
  });

  it("rewrites the repositories only for another containerd", async () => {
    const [kubernetes, containerd] = [builtIn(folder), builtIn(folder)];
    for (const [built, name] of [
      [kubernetes, "kubernetes"],
      [containerd, "containerd"],
    ] as const) {
      const found = built.get(name);
      assert.ok(found);
      built.set(name, { ...found, key: "two" });
    }
    assert.equal(await write(kubernetes), false);
    assert.equal(await write(containerd), true);
  });
});

describe("replaceDirectory", () => {
  it("replaces an existing or missing directory", () => {
    const folder = mkdtempSync(join(tmpdir(), "stackadm-test-"));
    const [part, target] = [join(folder, "new.part"), join(folder, "new")];
    for (const content of ["one", "two"]) {
      mkdirSync(part);
      writeFileSync(join(part, content), "");
      replaceDirectory(part, target);
      assert.deepEqual(readdirSync(target), [content]);
    }
    assert.ok(!existsSync(`${target}.old`));
    rmSync(folder, { recursive: true });
  });
});
