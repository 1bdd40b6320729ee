import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import {
  createSubvolume,
  deleteSubvolume,
  listTopSubvolumes,
  listLoopDevices,
  openStore,
  releaseLoopDevices,
  snapshotSubvolume,
} from "../../../host/store.js";
import { formatDeviceNumber } from "../../../host/parse-mounts-and-devices.js";
import {
  btrfs,
  busyAtFirst,
  hostStubs,
  StubHost,
} from "../../../../../test/support/machine/stub-host.js";

let host: StubHost;
const useHost = (): void => {
  beforeEach(() => {
    host = new StubHost(hostStubs);
    mkdirSync(host.paths.store, { recursive: true });
  });
  afterEach(() => {
    host.close();
  });
};
const inStore = (...parts: string[]): string => join(host.paths.store, ...parts);

describe("openStore", () => {
  useHost();
  const mark = () => `${host.paths.storeFile}.boot`;
  const relative = (file: string) => file.slice(host.root.length + 1);

  it("creates a private sparse file and mounts it in a private directory", async () => {
    await openStore(host.paths);
    const { size, blocks, mode } = statSync(host.paths.storeFile);
    assert.equal(size, 80 * 2 ** 30);
    assert.ok(blocks * 512 < 2 ** 20, "it takes what is written");
    assert.equal(mode & 0o777, 0o600);
    assert.equal(statSync(host.paths.store).mode & 0o777, 0o700);
    const mounted = host.called("mount");
    assert.equal(mounted.length, 1);
    assert.ok(mounted[0]?.endsWith(`${host.paths.storeFile} ${host.paths.store}`));
  });

  it("leaves no store if formatting fails", async () => {
    host.stub("mkfs.btrfs", "echo no space >&2; exit 1");
    await assert.rejects(openStore(host.paths), /no space/);
    assert.ok(!existsSync(host.paths.storeFile));
    host.stub("mkfs.btrfs", "true");
    await openStore(host.paths);
    assert.ok(existsSync(host.paths.storeFile));
  });

  it("keeps the content without a check after an orderly shutdown", async () => {
    host.put(relative(host.paths.storeFile), "clouds");
    await openStore(host.paths);
    assert.equal(readFileSync(host.paths.storeFile, "utf8"), "clouds");
    assert.deepEqual(
      host.calls().map((call) => call.split(" ")[0]),
      ["mount"],
    );
  });

  it("marks the boot before mounting, so that a crash during mounting is detected too", async () => {
    host.stub("mount", `[ -s "${mark()}" ] || { echo unmarked >&2; exit 1; }`);
    await openStore(host.paths);
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8");
    assert.equal(readFileSync(mark(), "utf8"), boot);
  });

  for (const [state, code, kept] of [
    ["sound", 0, true],
    ["damaged", 1, false],
  ] as const) {
    it(`${kept ? "keeps" : "recreates"} a ${state} store after a crash of the host`, async () => {
      host.put(relative(host.paths.storeFile), "clouds");
      host.put(relative(mark()), "another boot\n");
      host.stub("btrfs", `[ "$1" != check ] || exit ${code}`);
      await openStore(host.paths);
      assert.equal(host.called("btrfs", "check", "--readonly").length, 1);
      assert.equal(statSync(host.paths.storeFile).size === "clouds".length, kept);
    });
  }
});

describe("subvolumes", () => {
  useHost();

  it("are deleted with nested ones, the deepest first", async () => {
    for (const path of ["running", "running/base", "running/base/image", "running-too"]) {
      await createSubvolume(inStore(path));
    }
    await deleteSubvolume(host.paths, inStore("running"));
    assert.ok(!existsSync(inStore("running")));
    assert.ok(existsSync(inStore("running-too")), "a neighbour with a longer name stays");
  });

  it("are deleted as soon as they are unused", async () => {
    for (const path of ["running", "running/base"]) await createSubvolume(inStore(path));
    host.stub("btrfs", `case $2 in delete) ${busyAtFirst} ;; esac\n${btrfs}`);
    await deleteSubvolume(host.paths, inStore("running"));
    assert.ok(!existsSync(inStore("running")));
  });

  it("may be absent when deleted", async () => {
    await deleteSubvolume(host.paths, inStore("nothing"));
    assert.deepEqual(host.calls(), []);
  });

  it("are copied with their content, and the copy is independent", async () => {
    for (const path of ["golden", "golden/base", "golden/base/image"]) {
      await createSubvolume(inStore(path));
    }
    const file = "golden/base/image/init";
    host.put(inStore(file).slice(host.root.length + 1), "systemd");
    await snapshotSubvolume(host.paths, inStore("golden"), inStore("running"));
    assert.equal(readFileSync(inStore("running/base/image/init"), "utf8"), "systemd");
    await deleteSubvolume(host.paths, inStore("golden"));
    assert.equal(readFileSync(inStore("running/base/image/init"), "utf8"), "systemd");
  });

  it("are listed without nested ones", async () => {
    for (const path of ["golden-1", "golden-1/base", "packages-2"]) {
      await createSubvolume(inStore(path));
    }
    assert.deepEqual((await listTopSubvolumes(host.paths)).sort(), ["golden-1", "packages-2"]);
  });
});

describe("loop devices", () => {
  useHost();

  it("are released only if their file is in the subvolume", async () => {
    const running = inStore("running");
    mkdirSync(running);
    const here = formatDeviceNumber(statSync(running, { bigint: true }).dev);
    const devices = [
      { name: "/dev/loop5", "back-file": "/srv/lab/volumes/a", "back-maj:min": ` ${here} ` },
      { name: "/dev/loop6", "back-file": "/foreign/file", "back-maj:min": "250:99" },
      { name: "/dev/loop7", "back-file": null, "back-maj:min": null },
    ];
    const list = `[ "$1" = --detach ] || echo '${JSON.stringify({ loopdevices: devices })}'`;
    host.stub("losetup", list);
    assert.deepEqual(await listLoopDevices(running), ["/dev/loop5"]);
    host.calls();
    await releaseLoopDevices(running);
    assert.deepEqual(host.called("losetup", "--detach"), ["losetup --detach /dev/loop5"]);
    host.stub("losetup", `[ "$1" != --detach ] || { ${busyAtFirst}; }; ${list}`);
    await releaseLoopDevices(running);
    assert.equal(host.called("losetup", "--detach").length, 3, "in use twice, then free");
  });
});
