import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentProgress } from "../../../../../../base/progress.js";
import type { BuiltComponent } from "../../../../kubernetes/compile/build-component.js";
import type { RegistryImage } from "../../../../kubernetes/catalog/component.js";
import { computeFileDigest } from "../../../../kubernetes/digest.js";
import {
  debianLayerPackages,
  ensureEmptyLayer,
  isExcludedFromLayer,
  createProgramLayer,
} from "../../../../kubernetes/registry/image-layers.js";
import { getKubernetesRelease } from "../../../../kubernetes/catalog/versions.js";

describe("Debian layer", () => {
  it("contains the packages that pod networks and the volume driver run", () => {
    for (const name of ["iptables", "ipset", "iproute2", "conntrack", "mount", "e2fsprogs"]) {
      assert.ok(debianLayerPackages.includes(name), name);
    }
  });

  it("omits translations and character sets", () => {
    for (const path of [
      ...["usr/bin/python3", "usr/bin/python3.11", "usr/lib/python3", "usr/lib/python3.11"],
      ...["usr/share/perl", "usr/share/perl5", "usr/bin/perl", "usr/bin/perl5.36.0"],
      ...["usr/lib/x86_64-linux-gnu/perl-base", "usr/lib/x86_64-linux-gnu/libicudata.so.72.1"],
      ...["usr/lib/x86_64-linux-gnu/gconv", "var/lib/apt"],
    ]) {
      assert.ok(isExcludedFromLayer(path), path);
    }
  });

  it("keeps files that programs load", () => {
    for (const path of [
      ...["usr/bin/dash", "usr/bin/mount", "usr/lib/x86_64-linux-gnu/libc.so.6", "var/lib/dpkg"],
      ...["usr/lib/x86_64-linux-gnu/xtables", "usr/lib/x86_64-linux-gnu/libpcre2-8.so.0"],
    ]) {
      assert.ok(!isExcludedFromLayer(path), path);
    }
  });
});

describe("image layers", () => {
  let folder: string;
  let built: Map<string, BuiltComponent>;
  const options = () => ({ cache: join(folder, "layers"), step: silentProgress.step("") });
  const list = (file: string) =>
    execFileSync("tar", ["--numeric-owner", "-tvf", file], { encoding: "utf8" }).trim().split("\n");

  const [component] = getKubernetesRelease("1.36.3").components;
  assert.ok(component);
  const image: RegistryImage = {
    repository: "tool",
    upstream: "example.org/tool:1",
    tags: ["1"],
    base: "empty",
    files: { "/bin/tool": "kubernetes/tool" },
    links: { "/bin/tool-2": "tool" },
  };

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "stackadm-test-"));
    for (const name of ["built", "layers"]) mkdirSync(join(folder, name));
    writeFileSync(join(folder, "built", "tool"), "program", { mode: 0o700 });
    const directory = join(folder, "built");
    built = new Map([["kubernetes", { component, directory, key: "0", seconds: 0 }]]);
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  it("contain programs, owned by root and executable by all, and links", async () => {
    const lines = list(await createProgramLayer(image, built, options()));
    assert.ok(lines.some((line) => /^-rwxr-xr-x 0\/0 .* \.\/bin\/tool$/.test(line)));
    assert.ok(lines.some((line) => line.endsWith("./bin/tool-2 -> tool")));
  });

  it("do not replace Debian's link /bin by a directory", async () => {
    const lines = list(await createProgramLayer({ ...image, base: "debian" }, built, options()));
    assert.ok(lines.some((line) => line.endsWith(" ./usr/bin/tool")));
    assert.ok(!lines.some((line) => / \.\/bin/.test(line)));
  });

  it("contain a component's directories in addition to its programs", async () => {
    mkdirSync(join(folder, "built", "etc", "service"), { recursive: true });
    writeFileSync(join(folder, "built", "etc", "service", "run"), "#!/bin/sh", { mode: 0o755 });
    const folders = { "/etc": "kubernetes/etc" };
    const lines = list(await createProgramLayer({ ...image, folders }, built, options()));
    assert.ok(lines.some((line) => /^-rwxr-xr-x 0\/0 .* \.\/etc\/service\/run$/.test(line)));
    assert.ok(lines.some((line) => line.endsWith(" ./bin/tool")));
  });

  it("have the same bytes at any time", async () => {
    const first = await computeFileDigest(await createProgramLayer(image, built, options()));
    writeFileSync(join(folder, "built", "tool"), "program");
    assert.equal(await computeFileDigest(await createProgramLayer(image, built, options())), first);
    writeFileSync(join(folder, "built", "tool"), "another");
    assert.notEqual(
      await computeFileDigest(await createProgramLayer(image, built, options())),
      first,
    );
  });

  it("report a missing component", async () => {
    await assert.rejects(
      createProgramLayer(image, new Map(), options()),
      /kubernetes is not built/,
    );
  });

  it("contain certificates, users and a writable /tmp without a distribution", async () => {
    const certificates = join(folder, "tree/etc/ssl/certs");
    mkdirSync(certificates, { recursive: true });
    writeFileSync(join(certificates, "ca-certificates.crt"), "certificate");
    const debian = join(folder, "layers", "debian.tar");
    execFileSync("tar", ["-C", join(folder, "tree"), "-cf", debian, "."]);
    const file = await ensureEmptyLayer(debian, options());
    const lines = list(file);
    assert.ok(lines.some((line) => line.endsWith(" ./etc/ssl/certs/ca-certificates.crt")));
    assert.ok(lines.some((line) => line.startsWith("drwxrwxrwt") && line.endsWith(" ./tmp/")));
    const passwd = execFileSync("tar", ["-xOf", file, "./etc/passwd"], { encoding: "utf8" });
    assert.match(passwd, /^root:x:0:0:/);
    assert.equal(await ensureEmptyLayer(debian, options()), file, "made once");
  });
});
