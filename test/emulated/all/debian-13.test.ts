import assert from "node:assert/strict";
import { takeInventory } from "../../../openstack/inventory/inventory.js";
import { givenObjects, type GivenObjects } from "../../lab/support/cloud/given.js";
import { EmulatedStack, onePlusOne, upMs } from "../support/emulated-stack.js";
import type { ImageCopy } from "../support/own-image.js";
import { withScsiDisks, writeToClaim } from "../support/scsi-volume.js";
import { Traffic } from "../support/traffic.js";

const minutes = 60_000;
const q35 = "debian-12-q35";
const machines = ["control-plane-0", "general-0"] as const;
/** Lists the tables of nftables. The stock image does not contain the command. */
const tables =
  "{ command -v nft || { apt-get -q update; apt-get -q -y install nftables; }; } >/dev/null; nft list tables";

// One cluster for several differences, because each further `up` takes a quarter of an hour.
describe("a cluster with Debian 13, a worker on q35 with SCSI disks, a second network and kube-proxy's nftables, on kernels of its own", function () {
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
  let given: GivenObjects;
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

  it("comes up and is verified", async function () {
    this.timeout(upMs);
    await stack.up(settings());
  });

  it("has the two releases of Debian, and rules of nftables", async () => {
    const release = "cat /etc/os-release";
    assert.match(await stack.on("control-plane-0", release), /VERSION_CODENAME=trixie/);
    assert.match(await stack.on("general-0", release), /VERSION_CODENAME=bookworm/);
    for (const machine of machines)
      assert.match(await stack.on(machine, tables), /table ip kube-proxy/);
  });

  it("has a worker that came up at its first boot, although its kernel cannot read the config drive", async () => {
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

  it("has a second interface in each machine, which takes neither the default route nor the name servers", async () => {
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

  it("keeps network policies", () => traffic.provePolicy());

  it("attaches a volume of a claim by the serial number that the bus shows", async () => {
    await writeToClaim(stack, "general-0", async () => {
      assert.match(await stack.on("general-0", "ls /dev/disk/by-id"), /scsi-0QEMU_QEMU_HARDDISK_/);
    });
  });

  it("has nothing to do the second time", () => stack.again(settings()));

  it("goes away and leaves nothing", async () => {
    await stack.destroyAndLookAround();
  });
});
