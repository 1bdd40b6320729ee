import assert from "node:assert/strict";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { silentProgress, type Progress } from "../../../../../base/progress.js";
import {
  writeCloudConfiguration,
  ensureGoldenCloud,
  computeGoldenCloudKey,
  findGoldenCloud,
} from "../../../cloud/golden-cloud.js";
import { listCloudFiles, listCloudLinks, removedFiles } from "../../../cloud/files.js";
import { serverImageId } from "../../../cloud/offering.js";
import { generateLabSecrets, placeholderSecrets } from "../../../cloud/secrets.js";
import { readFrontAuthorityCertificate } from "../../../front/authority.js";
import { openStore } from "../../../host/store.js";
import { getServerImageFile } from "../../../image/image.js";
import { goldenStubs } from "../../../../../test/support/machine/golden-stubs.js";
import { StubHost } from "../../../../../test/support/machine/stub-host.js";
import { nonEmpty } from "../../../../../test/support/non-empty.js";

let host: StubHost;
const useHost = (): void => {
  beforeEach(async () => {
    host = new StubHost(goldenStubs);
    host.put("fail", "nothing");
    await openStore(host.paths);
  });
  afterEach(() => {
    host.close();
  });
};
const inStore = (...parts: string[]): string => join(host.paths.store, ...parts);
const ensure = (progress: Progress = silentProgress, signal?: AbortSignal) =>
  ensureGoldenCloud({
    settings: host.settings,
    paths: host.paths,
    drivers: "/drivers",
    progress,
    ...(signal && { signal }),
  });
const key = () => computeGoldenCloudKey(host.settings, host.paths);

describe("writeCloudConfiguration", () => {
  useHost();
  const tree = () => join(host.root, "tree");
  const write = (path: string) => host.put(join("tree", path), "Debian's");

  it("writes every file with its mode, over Debian's files", async () => {
    write("/etc/nova/nova.conf");
    await writeCloudConfiguration(tree(), host.settings, placeholderSecrets);
    for (const { path, content, mode } of nonEmpty(
      listCloudFiles({
        settings: host.settings,
        secrets: placeholderSecrets,
      }),
    )) {
      assert.equal(readFileSync(join(tree(), path), "utf8"), content, path);
      assert.equal(statSync(join(tree(), path)).mode & 0o777, mode ?? 0o644, path);
    }
  });

  it("creates every link, over existing files and directories", async () => {
    const [first, second] = listCloudLinks();
    assert.ok(first && second);
    write(first.path);
    write(join(second.path, "inside"));
    await writeCloudConfiguration(tree(), host.settings, placeholderSecrets);
    for (const { path, target } of listCloudLinks()) {
      assert.equal(readlinkSync(join(tree(), path)), target);
    }
  });

  it("deletes files that must not run, and the build host's identity", async () => {
    removedFiles.forEach(write);
    write("/etc/machine-id");
    await writeCloudConfiguration(tree(), host.settings, placeholderSecrets);
    for (const path of removedFiles) assert.ok(!existsSync(join(tree(), path)), path);
    assert.equal(readFileSync(join(tree(), "etc/machine-id"), "utf8"), "");
  });

  it("leaves no password of an earlier call", async () => {
    mkdirSync(join(tree(), "etc"), { recursive: true });
    const first = await generateLabSecrets(host.settings, host.paths);
    const { tls, front, ...passwords } = first;
    const words = [passwords, { ...tls }, { ...front }].flatMap((some) =>
      Object.values<string>(some),
    );
    await writeCloudConfiguration(tree(), host.settings, first);
    await writeCloudConfiguration(tree(), host.settings, placeholderSecrets);
    const files = readdirSync(tree(), { recursive: true, encoding: "utf8" }).filter((name) =>
      lstatSync(join(tree(), name)).isFile(),
    );
    for (const name of nonEmpty(files)) {
      const text = readFileSync(join(tree(), name), "utf8");
      for (const word of nonEmpty(words)) assert.ok(!text.includes(word), name);
    }
  });
});

describe("ensureGoldenCloud: first call", () => {
  useHost();

  it("creates packages, image and first boot in this order, each shown as a step", async () => {
    const titles: string[] = [];
    const step = (title: string) => (titles.push(title), silentProgress.step(title));
    const golden = await ensure({ ...silentProgress, step });
    assert.deepEqual(titles, [
      "Cloud: Debian packages",
      "Cloud: server image",
      "Cloud: first boot",
    ]);
    assert.deepEqual([golden.key, golden.root], [key(), inStore(`golden-${key()}`)]);
    assert.ok(existsSync(join(golden.root, "etc/nova/nova.conf")));
  });

  it("boots the configured tree with drivers and image mounted, and stops the databases in order", async () => {
    await ensure();
    const calls = host.calls();
    const at = (text: string) => {
      const index = calls.findIndex((call) => call.includes(text));
      assert.ok(index >= 0, text);
      return index;
    };
    const order = [
      "ip netns add",
      " run --detach ",
      "first-boot.sh",
      "systemctl stop os-*.service",
      "systemctl stop mariadb",
      "podman --runtime runc rm --force",
      "dpkg-query",
      "btrfs filesystem sync",
    ].map(at);
    assert.deepEqual(
      order,
      [...order].sort((one, other) => one - other),
    );
    const started = calls[at(" run --detach ")] ?? "";
    assert.ok(started.includes("--volume /drivers:/opt/lab:ro"));
    assert.ok(started.includes(`--volume ${getServerImageFile(host.paths)}:/srv/image.tar.zst:ro`));
    assert.match(started, /--rootfs \S+\/golden-[0-9a-f]+\.part \/sbin\/init$/);
  });

  it("stores passwords readable only by the owner, and the versions of all packages", async () => {
    const { secrets } = await ensure();
    const file = join(host.paths.goldens, key(), "secrets.json");
    assert.deepEqual(JSON.parse(readFileSync(file, "utf8")), secrets);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.equal(statSync(join(file, "..")).mode & 0o777, 0o700);
    const versions = readFileSync(join(host.paths.goldens, key(), "packages.txt"), "utf8");
    assert.match(versions, /^nova-common 2:26/m);
  });

  it("unpacks the server image into Nova's directory, without the builder's identity", async () => {
    const { root } = await ensure();
    const image = join(root, "srv/lab/nova/base", serverImageId);
    assert.equal(readlinkSync(join(image, "sbin/init")), "/lib/systemd/systemd");
    assert.deepEqual(readdirSync(join(image, "etc/ssh")), []);
    assert.ok(!existsSync(join(image, "etc/hostname")));
    assert.ok(!existsSync(join(image, "etc/apt/apt.conf.d/99mmdebstrap")));
    assert.equal(readFileSync(join(image, "etc/machine-id"), "utf8"), "");
  });

  it("unpacks a server image that trusts the front and has Debian's own sources", async () => {
    const { root } = await ensure();
    const image = join(root, "srv/lab/nova/base", serverImageId);
    assert.equal(
      readFileSync(join(image, "etc/trusted"), "utf8"),
      readFrontAuthorityCertificate(host.paths),
    );
    const sources = join(image, "etc/apt/sources.list.d/debian.sources");
    assert.match(readFileSync(sources, "utf8"), /^Suites: bookworm bookworm-updates$/m);
    const mirrors = join(image, "etc/apt/mirrors/debian.list");
    assert.equal(readFileSync(mirrors, "utf8"), "https://deb.debian.org/debian\n");
  });

  it("unpacks a server image with netplan, networkd and resolved", async () => {
    const { root } = await ensure();
    const image = join(root, "srv/lab/nova/base", serverImageId);
    const stub = "../run/systemd/resolve/stub-resolv.conf";
    assert.equal(readlinkSync(join(image, "etc/resolv.conf")), stub);
    const network = statSync(join(image, "etc/netplan/90-default.yaml"));
    assert.equal(network.mode & 0o777, 0o600);
    const enabled = host.called("chroot").find((call) => call.includes("systemctl enable"));
    assert.match(enabled ?? "", / systemd-networkd systemd-resolved /);
    const configured = readdirSync(join(image, "etc/cloud/cloud.cfg.d")).sort();
    assert.deepEqual(configured, ["01_debian_cloud.cfg", "99-lab.cfg"]);
  });

  it("leaves no network, no container and no raised kernel setting", async () => {
    const before = host.read("sys/fs/inotify/max_user_instances");
    await ensure();
    assert.equal(host.read("container"), undefined);
    assert.equal(Number(host.read("sys/fs/inotify/max_user_instances")), Number(before));
    assert.ok(!existsSync(host.paths.kernelSettings));
  });

  it("deletes older golden clouds, packages and passwords, and the remains of a crash", async () => {
    for (const name of ["golden-aaaaaaaaaaaa", "packages-bbbbbbbbbbbb", "image-cc.part"]) {
      mkdirSync(inStore(name));
      writeFileSync(inStore(name, ".subvolume"), "");
    }
    mkdirSync(join(host.paths.goldens, "aaaaaaaaaaaa"), { recursive: true });
    await ensure();
    const names = readdirSync(host.paths.store).sort();
    assert.equal(names.length, 2, names.join());
    assert.equal(names[0], `golden-${key()}`);
    assert.match(names[1] ?? "", /^packages-[0-9a-f]{12}$/);
    assert.ok(!names[1]?.includes("bbbb"));
    assert.deepEqual(readdirSync(host.paths.goldens), [key()]);
  });
});

describe("ensureGoldenCloud: second call", () => {
  useHost();
  const none: Progress = { ...silentProgress, step: (title) => assert.fail(`${title} began`) };

  it("returns the same cloud with the same passwords and runs no command", async () => {
    const first = await ensure();
    host.calls();
    assert.deepEqual(await ensure(none), first);
    assert.deepEqual(host.calls(), []);
  });

  it("creates another cloud for other networks from the stored packages and image", async () => {
    const first = await ensure();
    const titles: string[] = [];
    const step = (title: string) => (titles.push(title), silentProgress.step(title));
    const settings = { ...host.settings, mtu: 1300 };
    const { paths } = host;
    const progress = { ...silentProgress, step };
    const second = await ensureGoldenCloud({ settings, paths, drivers: "/drivers", progress });
    assert.deepEqual(titles, ["Cloud: first boot"]);
    assert.notDeepEqual(second.secrets, first.secrets);
    assert.equal(await findGoldenCloud(host.settings, host.paths), undefined);
  });

  it("does not return a cloud whose passwords are missing, because no login would be possible", async () => {
    await ensure();
    writeFileSync(join(host.paths.goldens, "stray"), "");
    rmSync(join(host.paths.goldens, key()), { recursive: true });
    assert.equal(await findGoldenCloud(host.settings, host.paths), undefined);
  });
});

describe("ensureGoldenCloud: failures", () => {
  useHost();

  it("reports the mirror's error and keeps no partial tree; the next call rebuilds the tree", async () => {
    host.put("fail", "mmdebstrap");
    await assert.rejects(ensure(), /no mirror/);
    assert.equal(await findGoldenCloud(host.settings, host.paths), undefined);
    host.put("fail", "nothing");
    await ensure();
    assert.ok(!readdirSync(host.paths.store).some((name) => name.endsWith(".part")));
  });

  it("deletes container and network after a failed first boot, and keeps the packages", async () => {
    host.put("inside", 'case "$*" in *first-boot*) echo "first boot failed" >&2; exit 1 ;; esac');
    await assert.rejects(ensure(), /first boot failed/);
    assert.equal(host.read("container"), undefined);
    assert.ok(!existsSync(host.paths.kernelSettings), "the kernel's settings are put back");
    assert.equal(await findGoldenCloud(host.settings, host.paths), undefined);
    host.put("inside", "true");
    host.calls();
    await ensure();
    assert.deepEqual(host.called("mmdebstrap"), []);
  });

  it("deletes container and network on a cancellation during the first boot", async () => {
    host.put("inside", 'case "$*" in *first-boot*) echo booting; exec /bin/sleep 60 ;; esac');
    const stop = new AbortController();
    const step = () => ({
      ...silentProgress.step(""),
      update: (text: string) => {
        if (text === "booting") stop.abort(new Error("called off"));
      },
    });
    await assert.rejects(ensure({ ...silentProgress, step }, stop.signal), /abort|called off/);
    assert.equal(host.read("container"), undefined);
    assert.equal(await findGoldenCloud(host.settings, host.paths), undefined);
  });

  it("leaves no process and no partial tree if the network cannot be set up", async () => {
    host.stub("ip", 'case "$*" in *"addr add"*) echo "no such device" >&2; exit 1 ;; esac');
    const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout");
    await new Promise(setImmediate); // let mocha start its own timer first
    const before = timers().length;
    await assert.rejects(ensure(), /no such device/);
    assert.equal(timers().length, before, "a timer would keep this process alive");
    assert.ok(!existsSync(host.paths.kernelSettings), "the kernel's settings are put back");
  });

  it("does not return a golden cloud whose image cannot be unpacked", async () => {
    host.stub("zstd", 'case "$*" in *-d*) echo "corrupt" >&2; exit 1 ;; *) cat ;; esac');
    await assert.rejects(ensure(), /tar/);
    assert.equal(await findGoldenCloud(host.settings, host.paths), undefined);
  });
});
