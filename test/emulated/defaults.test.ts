import assert from "node:assert/strict";
import { takeInventory } from "../../openstack/inventory/inventory.js";
import { EmulatedStack, upMs } from "./support/emulated-stack.js";
import type { ImageCopy } from "./support/own-image.js";
import { withScsiDisks, writeToClaim } from "./support/scsi-volume.js";
import { Traffic } from "./support/traffic.js";

const minutes = 60_000;
const q35 = "debian-13-q35";

/**
 * Script that installs the distribution's older version of systemd and its packages, so that the
 * newest version is a pending update.
 */
const olderSystemd = `set -e
apt-get -q update
now=$(dpkg-query -W -f '\${Version}' systemd)
names=$(dpkg-query -W -f '\${source:Package} \${Package}\\n' | awk '$1 == "systemd" {print $2}')
older=$(apt-cache madison systemd | awk -F ' *[|] *' -v now="$now" '$2 != now {print $2; exit}')
export DEBIAN_FRONTEND=noninteractive
apt-get -q -y --allow-downgrades install $(for name in $names; do echo "$name=$older"; done)
`;

describe("a Debian 12 cluster with default settings, with its own kernels", function () {
  this.timeout(15 * minutes);
  // Stops at the first failure. Without the cluster, each further step would wait for its whole
  // timeout.
  this.bail(true);
  const stack = new EmulatedStack("defaults");
  const traffic = new Traffic(stack);
  let made: ImageCopy;
  before(async function () {
    this.timeout(20 * minutes);
    await stack.open();
    made = await withScsiDisks("debian-13-emulated", q35);
    stack.initially = await takeInventory(stack.cluster.cloud);
  });
  after(async () => {
    await stack.close();
    await made.remove();
  });

  it("is created and verified", async function () {
    this.timeout(upMs);
    await stack.up();
    assert.equal(stack.outputs.nodes.length, 2);
  });

  it("has no changes on a second `up`", async () => {
    await stack.again();
  });

  it("runs its image's kernel, cgroup v2 and systemd-networkd", async () => {
    for (const machine of ["control-plane-0", "general-0"]) {
      assert.match(await stack.on(machine, "uname -r"), /cloud-amd64/);
      assert.match(await stack.on(machine, "stat -fc %T /sys/fs/cgroup"), /cgroup2fs/);
      assert.equal(
        (await stack.on(machine, "systemctl is-active systemd-networkd")).trim(),
        "active",
      );
    }
  });

  it("carries traffic on a node, between nodes, to Services, by name and outside, and blocks closed ports", async () => {
    await traffic.run();
    await traffic.prove(["pkgs.k8s.io:443"]);
  });

  it("enforces network policies", async () => {
    await traffic.provePolicy();
  });

  it("carries traffic while systemd-networkd is restarted, and keeps its routes", async () => {
    const routes = "ip route show proto 17; ip rule show";
    for (const machine of ["general-0", "control-plane-0"]) {
      const before = await stack.on(machine, routes);
      const other = machine === "general-0" ? "control-plane-0" : "general-0";
      const gap = await traffic.longestGap(other, () =>
        stack.on(machine, "systemctl restart systemd-networkd"),
      );
      assert.equal(await stack.on(machine, routes), before);
      assert.ok(gap <= 2, `${gap} s without an answer while ${machine} restarted networkd`);
    }
  });

  it("recovers each node with its pods after a reboot", async function () {
    this.timeout(60 * minutes);
    for (const machine of ["general-0", "control-plane-0"]) {
      await stack.reboot(machine);
      await traffic.readyAfterBoot(machine);
      const seconds = await traffic.proveAfterReboot();
      process.stderr.write(`Pods had traffic ${seconds} s after they were ready on ${machine}.\n`);
    }
  });

  it("carries traffic during an unattended security update of systemd", async function () {
    this.timeout(30 * minutes);
    const version = "dpkg-query -W -f '${Version}' systemd";
    const started = "systemctl show -P ActiveEnterTimestampMonotonic systemd-networkd";
    const newest = await stack.on("general-0", version);
    await stack.on("general-0", olderSystemd);
    assert.notEqual(await stack.on("general-0", version), newest);
    const before = await stack.on("general-0", started);
    const gap = await traffic.longestGap("control-plane-0", () =>
      stack.on("general-0", "unattended-upgrade --verbose"),
    );
    assert.equal(await stack.on("general-0", version), newest);
    assert.notEqual(await stack.on("general-0", started), before, "networkd was not restarted");
    assert.ok(gap <= 2, `${gap} s without an answer during the update`);
    await stack.ready("general-0");
  });

  it("gets one more worker with Debian 13, on q35 with SCSI disks, which runs pods", async function () {
    this.timeout(upMs);
    const flavor = "k8s-worker";
    await stack.up({
      workers: { general: { flavor, count: 1 }, newer: { flavor, count: 1, image: q35 } },
    });
    assert.match(await stack.on("newer-0", "cat /etc/os-release"), /VERSION_CODENAME=trixie/);
    assert.match(await stack.on("newer-0", "lsblk -dno NAME,TRAN,MODEL"), /^sda .*QEMU HARDDISK/m);
    await traffic.ready();
    assert.equal((await traffic.pods()).length, 3);
    await traffic.prove();
  });

  it("attaches the volume of a claim to the SCSI bus by its serial number", () =>
    writeToClaim(stack, "newer-0", async () => {
      assert.match(await stack.on("newer-0", "ls /dev/disk/by-id"), /scsi-0QEMU_QEMU_HARDDISK_/);
    }));

  it("is destroyed without leftovers", async () => {
    await stack.destroyAndLookAround();
  });
});
