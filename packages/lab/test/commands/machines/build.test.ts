import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentProgress } from "../../../../../base/progress.js";
import { ensureMachineImages, getMachineImage } from "../../../machines/build.js";
import { partitionId, debianReleases } from "../../../machines/debian-releases.js";
import { StubHost } from "../../../../../test/support/machine/stub-host.js";

/** Stub of setpriv: runs the inner command without namespaces. */
const setpriv = 'while [ "$1" != --mount-proc ]; do shift; done; shift; exec "$@"';

/**
 * Stub of mmdebstrap: creates a small tree at the argument that ends in `/tree`. The argument's
 * position depends on whether a mirror is passed.
 */
const mmdebstrap = `
for word; do case $word in /*/tree) tree=$word ;; esac; done
mkdir -p "$tree"/{boot,etc/ssh,etc/apt,var/lib/apt/lists}
echo kernel >"$tree/boot/vmlinuz-6.1.0-1-cloud-amd64"
echo initrd >"$tree/boot/initrd.img-6.1.0-1-cloud-amd64"
for file in etc/ssh/ssh_host_ed25519_key etc/hostname etc/resolv.conf var/lib/apt/lists/one etc/apt/sources.list; do
  echo "of this host" >"$tree/$file"
done`;

/** Returns a stub that runs the real command, for commands that write the disk. */
const real = (name: string): string => `exec env PATH=/usr/sbin:/usr/bin:/sbin:/bin ${name} "$@"`;

describe("ensureMachineImages", () => {
  let host: StubHost;
  const trusted = ["certificate of an authority\n"];
  const build = () => ensureMachineImages({ paths: host.paths, trusted, progress: silentProgress });
  beforeEach(() => {
    host = new StubHost({ setpriv, mmdebstrap, "apt-config": "true", chroot: "true" });
    for (const name of ["sfdisk", "mkfs.ext4", "qemu-img"]) host.stub(name, real(name));
  });
  afterEach(() => {
    host.close();
  });

  /**
   * Returns the content of a file on the first image's disk, or undefined if the file does not
   * exist.
   */
  function onDisk(folder: string, path: string): string | undefined {
    const work = mkdtempSync(join(tmpdir(), "stackadm-disk-"));
    try {
      const raw = join(work, "raw");
      const command = `dump ${path} ${join(work, "file")}`;
      execFileSync("qemu-img", ["convert", "-O", "raw", join(folder, "disk.qcow2"), raw]);
      execFileSync("/sbin/debugfs", ["-R", command, `${raw}?offset=1048576`], { stdio: "ignore" });
      const file = join(work, "file");
      return existsSync(file) ? readFileSync(file, "utf8") : undefined;
    } finally {
      rmSync(work, { recursive: true });
    }
  }

  it("writes for each release a disk, its kernel and its initrd", async () => {
    const images = await build();
    assert.deepEqual(
      images.map(({ name, version }) => [name, version]),
      [
        ["debian-12-emulated", "12"],
        ["debian-13-emulated", "13"],
      ],
    );
    for (const { folder } of images) {
      assert.deepEqual(readdirSync(folder).sort(), ["disk.qcow2", "initrd.img", "vmlinuz"]);
      assert.equal(readFileSync(join(folder, "vmlinuz"), "utf8"), "kernel\n");
    }
    const folder = images[0]?.folder ?? "";
    assert.match(onDisk(folder, "/etc/fstab") ?? "", new RegExp(`^PARTUUID=${partitionId} / ext4`));
    const list = onDisk(folder, "/etc/apt/mirrors/debian.list");
    assert.equal(list, "https://deb.debian.org/debian\n");
    const certificate = onDisk(folder, "/usr/local/share/ca-certificates/lab-0.crt");
    assert.equal(certificate, trusted[0]);
    assert.equal(onDisk(folder, "/etc/machine-id"), "");
    for (const path of ["/etc/ssh/ssh_host_ed25519_key", "/etc/hostname", "/etc/apt/sources.list"])
      assert.equal(onDisk(folder, path), undefined, path);
  });

  it("builds each image from its own release, and nothing the second time", async () => {
    await build();
    const suites = host.called("mmdebstrap").map((call) => / (\w+) \/\S+\/tree/.exec(call)?.[1]);
    assert.deepEqual(suites, ["bookworm", "trixie"]);
    await build();
    assert.deepEqual(host.called("mmdebstrap"), []);
  });

  it("leaves no valid image after a failure, and deletes images of other keys", async () => {
    host.stub("mkfs.ext4", "echo no space left >&2; exit 1");
    await assert.rejects(build(), /no space left/);
    const [image] = await (host.stub("mkfs.ext4", real("mkfs.ext4")), build());
    assert.ok(image);
    const cache = join(host.paths.cache, "machines");
    host.put(`${cache.slice(host.root.length + 1)}/debian-12-emulated-0123456789ab/disk.qcow2`);
    await build();
    assert.equal(readdirSync(cache).length, debianReleases.length);
    assert.ok(existsSync(image.folder));
  });

  it("refuses a tree with an ambiguous kernel", async () => {
    host.stub("mmdebstrap", `${mmdebstrap}\ntouch "$tree/boot/vmlinuz-6.1.0-2-cloud-amd64"`);
    await assert.rejects(build(), /has 2 files vmlinuz-\*, not one/);
  });
});

describe("getMachineImage", () => {
  it("derives an image's name from its complete content", () => {
    const [release] = debianReleases;
    assert.ok(release);
    const paths = { cache: "/cache" } as StubHost["paths"];
    const key = (trusted: readonly string[]) => getMachineImage(release, paths, trusted).key;
    assert.equal(key(["a"]), key(["a"]));
    assert.notEqual(key(["a"]), key(["b"]));
  });
});
