import assert from "node:assert/strict";
import {
  compareInventories,
  listObjects,
  takeInventory,
} from "../../../../openstack/inventory/inventory.js";
import { deleteObject } from "../../../../openstack/inventory/marked-objects.js";
import { stackadm } from "../../support/stack/command-line.js";
import { until } from "../../support/cloud/foreign.js";
import { inServer } from "../../support/machines/machines.js";
import { Stack, type Changes } from "../../support/stack/stack.js";

const minutes = 60_000;
/**
 * Time limit of a destroy that cannot reach the cluster. The destroy reports this after half a
 * minute, and also reads the state and the cloud.
 */
const soon = 2 * minutes;

/** Tests the destroy of a cluster whose etcd `lose` has stopped or deleted. */
function testLoss(stack: Stack, changed: Changes, lose: () => Promise<void>, said: RegExp): void {
  before(async () => {
    await stack.open();
  });
  after(async () => {
    await stack.cluster.close();
  });

  it("is created and verified", async () => {
    await stack.up(changed);
    await stack.prove(stack.controlPlanes.length);
  });

  it("fails a destroy quickly with the reason, and stays unchanged", async () => {
    await lose();
    const before = await takeInventory(stack.cluster.cloud);
    const since = Date.now();
    const { code, text } = await stackadm(stack.cluster, ["destroy", "--yes"], {
      changes: changed,
    });
    assert.equal(code, 1, text);
    assert.ok(Date.now() - since < soon, `${(Date.now() - since).toString()} ms`);
    assert.match(text, said);
    assert.match(text, /Nothing was changed[\s\S]*--abandon/);
    const after = await takeInventory(stack.cluster.cloud);
    assert.deepEqual(compareInventories(before, after), { added: [], removed: [] });
  });

  it("is destroyed with `--abandon`, and only a volume and a floating IP are kept and reported", async () => {
    const { cloud, service } = stack.cluster;
    const args = ["destroy", "--yes", "--abandon"];
    const { code, text } = await stackadm(stack.cluster, args, { changes: changed });
    assert.equal(code, 0, text);
    assert.equal(await service.state(stack.name), undefined, "the stack is still there");
    const { added, removed } = compareInventories(stack.initially, await takeInventory(cloud));
    assert.deepEqual(removed, []);
    assert.deepEqual(
      added.map(({ kind }) => kind),
      ["floating IP", "volume"],
    );
    for (const one of added) {
      assert.match(text, new RegExp(one.id));
      await deleteObject(cloud, one);
    }
  });
}

describe("a cluster whose etcd lost its majority, on the lab", function () {
  this.timeout(15 * minutes);
  const stack = new Stack("minority");
  const changed = {
    controlPlane: { flavor: "k8s-control-plane", count: 3 },
    endpoint: { kind: "virtual-ip" },
    workers: { general: { flavor: "k8s-worker", count: 1 } },
  };
  /**
   * Stops two of the three control planes. The control plane on which the teardown runs continues
   * to run.
   */
  const lose = async (): Promise<void> => {
    const { cloud } = stack.cluster;
    const ids = ["control-plane-1", "control-plane-2"].map((name) => stack.serverOf(name));
    for (const id of ids)
      await cloud.request("compute", "POST", `/servers/${id}/action`, { "os-stop": null });
    await until(async () => {
      const servers = await listObjects(cloud, "server");
      return ids.every((id) => servers.find((one) => one.id === id)?.status === "SHUTOFF");
    });
  };
  testLoss(stack, changed, lose, /The cluster's API cannot be used/);
});

describe("a single-machine cluster whose etcd lost its data, on the lab", function () {
  this.timeout(15 * minutes);
  const stack = new Stack("empty");
  const changed = { topology: "single", workers: {} };
  /** Deletes the data of etcd. Then etcd and the API server start without any objects. */
  const lose = async (): Promise<void> => {
    const server = stack.serverOf("control-plane-0");
    const running = (name: string) => `crictl ps --quiet --name '^${name}$'`;
    await inServer(server, "mv /etc/kubernetes/manifests/etcd.yaml /root/etcd.yaml");
    await until(async () => (await inServer(server, running("etcd"))).trim() === "");
    await inServer(server, "rm -rf /var/lib/etcd/member");
    await inServer(server, "mv /root/etcd.yaml /etc/kubernetes/manifests/etcd.yaml");
    await until(async () => (await inServer(server, running("etcd"))).trim() !== "");
    await inServer(server, `crictl stop $(${running("kube-apiserver")}) || :`);
    await until(async () => {
      const ready = await inServer(server, "curl -sk https://localhost:6443/readyz || :");
      return ready.trim() === "ok";
    }, 240);
  };
  testLoss(stack, changed, lose, /etcd may have lost the cluster's data/);
});
