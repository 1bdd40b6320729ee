import assert from "node:assert/strict";
import { useApi } from "../support/kubernetes/api-client.js";
import { connectPods } from "../support/kubernetes/pods.js";
import { inServer } from "../support/machines/machines.js";
import { Stack } from "../support/stack/stack.js";

const minutes = 60_000;

describe("a cluster with flannel that grows to three control planes, on the lab", function () {
  this.timeout(15 * minutes);
  const stack = new Stack("grow");
  const small = { podNetwork: "flannel" };
  const grown = { ...small, controlPlane: { flavor: "k8s-control-plane", count: 3 } };
  const virtual = { ...grown, endpoint: { kind: "virtual-ip" } };
  before(async () => {
    await stack.open();
  });
  after(async () => {
    await stack.cluster.close();
  });

  it("connects pods across machines, and to Services by name", async () => {
    await stack.up(small);
    await stack.prove(1);
    assert.ok((await connectPods(stack.serverOf("control-plane-0"))) > 0);
  });

  it("grows to three control planes while the API keeps answering", async () => {
    const use = useApi(stack.outputs.kubeconfig);
    await stack.up(grown);
    const { longestGap, answered, failed, said } = await use.end();
    // Usually no request fails. Some of the ten requests per second may fail while etcd elects
    // another leader.
    assert.ok(answered > 100 && failed <= 50 && longestGap < 15_000, said);
    await stack.prove(3);
  });

  it("keeps its external address when the endpoint changes to a virtual IP", async () => {
    const { apiEndpoint } = stack.outputs;
    await stack.up(virtual);
    assert.equal(stack.outputs.apiEndpoint, apiEndpoint);
    const [address = ""] = (
      await inServer(stack.serverOf("general-0"), "grep api.grow.internal /etc/hosts")
    ).split(/\s/);
    const holders = await Promise.all(
      stack.controlPlanes.map(({ serverId }) =>
        inServer(serverId, `ip -o addr show to ${address} || :`),
      ),
    );
    assert.equal(holders.filter((line) => line.trim() !== "").length, 1, JSON.stringify(holders));
    await stack.prove(3);
  });

  it("replaces its first control plane, which joins the existing cluster", async () => {
    const { clusterId } = stack.outputs;
    const lost = await stack.lose("control-plane-0");
    await stack.up(virtual, true);
    assert.notEqual(stack.serverOf("control-plane-0"), lost);
    assert.equal(stack.outputs.clusterId, clusterId);
    await stack.prove(3);
  });

  it("shrinks to one control plane, and is destroyed without leftovers", async () => {
    await stack.up({ ...small, endpoint: { kind: "virtual-ip" } });
    await stack.prove(1);
    await stack.destroyAndLookAround();
  });
});
