import assert from "node:assert/strict";
import { takeInventory } from "../../../openstack/inventory/inventory.js";
import { givenObjects, type ExistingObjects } from "../../lab/support/cloud/given.js";
import { EmulatedStack, onePlusOne, upMs } from "../support/emulated-stack.js";
import type { ImageCopy } from "../support/own-image.js";
import { withScsiDisks, writeToClaim } from "../support/scsi-volume.js";
import { Traffic } from "../support/traffic.js";

const minutes = 60_000;
const q35 = "debian-12-q35";
const machines = ["control-plane-0", "general-0"] as const;
/**
 * Shell line that lists the tables of nftables. Installs `nft` first, because the stock image does
 * not contain it.
 */
const tables =
  "{ command -v nft || { apt-get -q update; apt-get -q -y install nftables; }; } >/dev/null; nft list tables";

// One cluster tests several differences, because each further `up` takes a quarter of an hour.
describe("a Debian 13 cluster with a q35 worker, SCSI disks, a second network and nftables, with its own kernels", function () {
  this.timeout(15 * minutes);
  this.bail(true);
  const defaults = onePlusOne("debian-13-emulated");
  const stack = new EmulatedStack("mixed", {
    ...defaults,
    workers: { general: { flavor: "k8s-worker", count: 1, image: q35 } },
    kubernetes: { kubeProxy: { mode: "nftables" } },
  });
  const traffic = new Traffic(stack);
  let made: ImageCopy;
  let given: ExistingObjects;
  const settings = () => ({
    network: { admin: { network: given.name, allowedCidrs: [given.range] } },
  });
  before(async function () {
    this.timeout(20 * minutes);
    await stack.open();
    made = await withScsiDisks("debian-12-emulated", q35);
    given = await givenObjects(stack.cluster.cloud, "hardware-before");
    stack.initially = await takeInventory(stack.cluster.cloud);
  });
  after(async () => {
    await given.remove();
    await made.remove();
    await stack.close();
  });

  it("is created and verified", async function () {
    this.timeout(upMs);
    await stack.up(settings());
  });

  it("runs both Debian releases, and kube-proxy's nftables rules", async () => {
    const release = "cat /etc/os-release";
    assert.match(await stack.on("control-plane-0", release), /VERSION_CODENAME=trixie/);
    assert.match(await stack.on("general-0", release), /VERSION_CODENAME=bookworm/);
    for (const machine of machines)
      assert.match(await stack.on(machine, tables), /table ip kube-proxy/);
  });

  it("initializes the worker on its first boot, although the worker's kernel cannot read the config drive", async () => {
    assert.equal(await stack.on("general-0", "ls /dev | grep -c ^sr || :"), "0\n");
    assert.match(
      await stack.on("general-0", "lsblk -dno NAME,TRAN,MODEL"),
      /^sda .*QEMU HARDDISK/m,
    );
    const source = await stack.on(
      "general-0",
      "cat /run/cloud-init/cloud-id; cloud-init status --long",
    );
    assert.match(source, /openstack[^]*status: done/);
  });

  it("gives each machine a second interface without a default route", async () => {
    for (const machine of machines) {
      const routes = (await stack.on(machine, "ip -4 route")).trim().split("\n");
      assert.equal(routes.filter((line) => line.startsWith("default ")).length, 1);
      assert.match(await stack.on(machine, "ip -4 -o address"), / 10\.78\.0\.\d+\/24 /);
      assert.match(await stack.on(machine, "ip rule"), /from 10\.78\.0\.\d+ lookup 1022/);
    }
  });

  it("carries traffic", async () => {
    await traffic.run();
    await traffic.prove();
  });

  it("enforces network policies", () => traffic.provePolicy());

  it("attaches a claim's volume, found by its serial number on the bus", async () => {
    await writeToClaim(stack, "general-0", async () => {
      assert.match(await stack.on("general-0", "ls /dev/disk/by-id"), /scsi-0QEMU_QEMU_HARDDISK_/);
    });
  });

  it("has no changes on a second `up`", () => stack.again(settings()));

  it("is destroyed without leftovers", async () => {
    await stack.destroyAndLookAround();
  });
});
