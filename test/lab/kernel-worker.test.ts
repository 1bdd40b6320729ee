import assert from "node:assert/strict";
import { EmulatedStack, onePlusOne } from "../emulated/support/emulated-stack.js";
import { Traffic } from "../emulated/support/traffic.js";

const minutes = 60_000;

/**
 * Cluster with a control plane in a system container, which is fast, and a worker with its own
 * kernel.
 */
const mixed = {
  ...onePlusOne("debian-12"),
  workers: { general: { flavor: "k8s-worker", count: 1, image: "debian-12-emulated" } },
};

describe("a cluster of a container and a worker with its own kernel, on the lab", function () {
  this.timeout(15 * minutes);
  this.bail(true);
  const stack = new EmulatedStack("kernel", mixed, true);
  const traffic = new Traffic(stack);
  before(async function () {
    // The first run on a host builds the images.
    this.timeout(30 * minutes);
    await stack.open();
  });
  after(() => stack.close());

  it("starts with a worker that boots, is prepared and joins", async () => {
    await stack.up();
    assert.match(await stack.on("general-0", "uname -r"), /cloud-amd64/);
    assert.match(await stack.on("general-0", "stat -fc %T /sys/fs/cgroup"), /cgroup2fs/);
  });

  it("carries traffic between both machines, and blocks closed ports", async () => {
    await traffic.run();
    const seconds = await traffic.prove();
    process.stderr.write(`Pods had traffic ${seconds} s after they were ready.\n`);
  });

  it("is destroyed without leftovers", () => stack.destroyAndLookAround());
});
