import assert from "node:assert/strict";
import { takeInventory } from "../../openstack/inventory/inventory.js";
import { givenObjects, type ExistingObjects } from "../lab/support/cloud/given.js";
import { EmulatedStack } from "./support/emulated-stack.js";

const minutes = 60_000;

/** Meaning of the exit codes of `checks`. Exit code 77 means that all checks passed. */
const failures: Readonly<Record<string, string>> = {
  71: "another kernel runs than the image's own",
  72: "a restart of systemd-networkd deletes a route of the pod network",
  73: "a restart of systemd-networkd deletes an address that another program added",
};

/**
 * Script that runs on the prepared machine before kubeadm. It ends the `up` there, because the
 * further steps take too long on emulated processors. kube-router marks its routes with protocol
 * 17.
 */
const checks = `
case $(uname -r) in *cloud-amd64) ;; *) exit 71 ;; esac
gateway=$(ip -4 route show default | awk '{ print $3; exit }')
device=$(ip -4 route show default | awk '{ print $5; exit }')
ip route add 198.51.100.0/24 via "$gateway" dev "$device" proto 17
ip address add 203.0.113.1/32 dev "$device"
systemctl restart systemd-networkd
/lib/systemd/systemd-networkd-wait-online --timeout 120
ip -4 route show 198.51.100.0/24 proto 17 | grep -q . || exit 72
ip -4 -o address show dev "$device" | grep -q 203.0.113.1/32 || exit 73
exit 77
`;

describe("a Debian 12 machine with its own kernel", function () {
  this.timeout(15 * minutes);
  this.bail(true);
  const stack = new EmulatedStack("kernel", {
    topology: "single",
    image: "debian-12-emulated",
    externalNetwork: "public",
    allowedCidrs: ["172.29.0.0/16"],
    controlPlane: { flavor: "k8s-worker", steps: { beforeKubeadm: checks } },
  });
  let given: ExistingObjects;
  before(async function () {
    // The first run on a host builds the images.
    this.timeout(30 * minutes);
    await stack.open();
    given = await givenObjects(stack.cluster.cloud, "kernel-before");
    stack.initially = await takeInventory(stack.cluster.cloud);
  });
  after(async () => {
    await stack.close();
    await given.remove();
  });

  it("is prepared with a second network, and keeps routes and addresses when networkd restarts", async () => {
    const admin = { network: given.name, allowedCidrs: [given.range] };
    const error: unknown = await stack.up({ network: { admin } }).then(
      () => "up succeeded",
      (reason: unknown) => reason,
    );
    const code = /steps\.beforeKubeadm ended with code (\d+)/.exec(String(error))?.[1] ?? "";
    assert.equal(code, "77", failures[code] ?? String(error));
  });

  it("is destroyed without leftovers", () => stack.destroyAndLookAround());
});
