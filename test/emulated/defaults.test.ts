import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { EmulatedStack, upMs } from "./support/emulated-stack.js";
import { Traffic } from "./support/traffic.js";

const minutes = 60_000;

describe("a cluster of Debian 12 by default, on kernels of its own", function () {
  this.timeout(15 * minutes);
  const stack = new EmulatedStack("defaults");
  const traffic = new Traffic(stack);
  before(async function () {
    this.timeout(20 * minutes);
    await stack.open();
  });
  after(async () => {
    await stack.close();
  });

  it("comes up and is verified", async function () {
    this.timeout(upMs);
    await stack.up();
    assert.equal(stack.outputs.nodes.length, 2);
  });

  it("has nothing to do the second time", async () => {
    await stack.again();
  });

  it("runs on a kernel of its own, with what its image brings", async () => {
    for (const machine of ["control-plane-0", "general-0"]) {
      assert.match(await stack.on(machine, "uname -r"), /cloud-amd64/);
      assert.match(await stack.on(machine, "stat -fc %T /sys/fs/cgroup"), /cgroup2fs/);
      assert.equal(
        (await stack.on(machine, "systemctl is-active systemd-networkd")).trim(),
        "active",
      );
    }
  });

  it("carries traffic: same node, other nodes, service, names, outside; and closes what it must", async () => {
    await traffic.run();
    await traffic.prove();
  });

  it("keeps network policies", async () => {
    await traffic.provePolicy();
  });

  it("carries traffic while systemd-networkd is restarted, and keeps its routes", async () => {
    const routes = "ip route show proto 17; ip rule show";
    for (const machine of ["general-0", "control-plane-0"]) {
      const before = await stack.on(machine, routes);
      const other = machine === "general-0" ? "control-plane-0" : "general-0";
      const gap = await traffic.longestGap(other, async () => {
        await delay(10_000);
        await stack.on(machine, "systemctl restart systemd-networkd");
      });
      assert.equal(await stack.on(machine, routes), before);
      assert.ok(gap <= 2, `${gap} s without an answer while ${machine} restarted networkd`);
    }
  });

  it("has each node back after a reboot, with its pods", async function () {
    this.timeout(30 * minutes);
    for (const machine of ["general-0", "control-plane-0"]) {
      await stack.reboot(machine);
      await traffic.ready();
      await traffic.prove();
    }
  });

  it("gets one more worker, which takes pods", async function () {
    this.timeout(upMs);
    await stack.up({ workers: { general: { flavor: "k8s-worker", count: 2 } } });
    await traffic.ready();
    assert.equal((await traffic.pods()).length, 3);
    await traffic.prove();
  });

  it("goes away and leaves nothing", async () => {
    await stack.destroyAndLookAround();
  });
});
