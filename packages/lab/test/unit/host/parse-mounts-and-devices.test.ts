import assert from "node:assert/strict";
import fc from "fast-check";
import {
  formatDeviceNumber,
  listMountsBelow,
  parseLoops,
  parseMountinfo,
  parseSubvolumes,
} from "../../../host/parse-mounts-and-devices.js";

const mountinfo = [
  "22 1 254:0 / / rw,relatime - ext4 /dev/vda rw",
  "60 22 0:50 / /cache/store rw,noatime shared:1 - btrfs /dev/loop0 rw",
  "61 60 0:51 / /cache/store/running/proc rw - proc proc rw",
  "62 60 0:52 / /cache/store/with\\040space rw - tmpfs tmpfs rw",
  "63 22 0:53 / /cache/store-other rw - tmpfs tmpfs rw",
  "64 61 0:54 / /cache/store/running/proc/sys rw - tmpfs tmpfs rw",
  "",
].join("\n");

describe("parseMountinfo", () => {
  it("returns mount points and types, with and without optional fields", () => {
    const mounts = parseMountinfo(mountinfo);
    assert.equal(mounts.length, 6);
    assert.deepEqual(mounts[1], { point: "/cache/store", type: "btrfs" });
    assert.deepEqual(mounts[2], { point: "/cache/store/running/proc", type: "proc" });
  });

  it("lists mounts below a directory, deepest first, and no similar paths", () => {
    const found = listMountsBelow(mountinfo, "/cache/store");
    assert.equal(found[0], "/cache/store/running/proc/sys");
    assert.equal(found.at(-1), "/cache/store");
    assert.ok(found.includes("/cache/store/with space"));
    assert.ok(!found.includes("/cache/store-other"));
  });

  it("returns a mount point twice if mounted twice", () => {
    const twice = mountinfo + "65 60 0:55 / /cache/store rw - btrfs /dev/loop1 rw\n";
    assert.equal(
      listMountsBelow(twice, "/cache/store").filter((x) => x === "/cache/store").length,
      2,
    );
  });
});

describe("parseLoops", () => {
  it("reads losetup's JSON with padded numbers", () => {
    const json = `{"loopdevices": [
      {"name":"/dev/loop0","back-file":"/cache/store.btrfs","back-maj:min":"     254:0  "},
      {"name":"/dev/loop1","back-file":"/srv/lab/volumes/x (deleted)","back-maj:min":"0:57"},
      {"name":"/dev/loop2","back-file":null,"back-maj:min":null}]}`;
    assert.deepEqual(parseLoops(json), [
      { name: "/dev/loop0", file: "/cache/store.btrfs", fileDevice: "254:0" },
      { name: "/dev/loop1", file: "/srv/lab/volumes/x (deleted)", fileDevice: "0:57" },
      { name: "/dev/loop2", file: "", fileDevice: "" },
    ]);
  });

  it("treats empty output, which losetup prints without devices, as no devices", () => {
    assert.deepEqual(parseLoops(""), []);
    assert.deepEqual(parseLoops("\n"), []);
  });
});

describe("parseSubvolumes", () => {
  it("returns paths, even with spaces", () => {
    const text = [
      "ID 256 gen 12 top level 5 path packages-0123",
      "ID 260 gen 15 top level 256 path running/srv/lab/nova/base/a b",
      "not a line of it",
    ].join("\n");
    assert.deepEqual(parseSubvolumes(text), ["packages-0123", "running/srv/lab/nova/base/a b"]);
  });
});

describe("formatDeviceNumber", () => {
  it("splits the number that stat returns", () => {
    assert.equal(formatDeviceNumber(0xfe00), "254:0");
    assert.equal(formatDeviceNumber(0x39), "0:57");
    assert.equal(formatDeviceNumber(0x100003n), "0:259");
  });

  it("returns every major and minor number of the kernel's 12 + 20 bits", () => {
    fc.assert(
      fc.property(fc.nat(0xfff), fc.nat(0xfffff), (major, minor) => {
        const dev = (minor & ~0xff) * 2 ** 12 + major * 2 ** 8 + (minor & 0xff);
        assert.equal(formatDeviceNumber(BigInt(dev)), `${major}:${minor}`);
      }),
    );
  });
});
