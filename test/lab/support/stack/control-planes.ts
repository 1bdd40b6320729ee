import assert from "node:assert/strict";
import { z } from "zod";
import type { EndpointSpec } from "../../../../components/config/load-balancing/endpoint.js";
import { useApi } from "../kubernetes/api-client.js";
import { until } from "../cloud/foreign.js";
import { kubectlOn } from "../kubernetes/kubectl.js";
import { changes } from "./lab-cluster.js";
import { inServer, scriptRuns } from "../machines/machines.js";
import { Stack } from "./stack.js";

const zones = ["zone-a", "zone-b", "zone-c"];
const placed = z.object({ server: z.looseObject({ "OS-EXT-AZ:availability_zone": z.string() }) });

/** Tests three control planes behind an endpoint of this kind. */
export function testControlPlanes(kind: EndpointSpec["kind"]): void {
  const stack = new Stack("ha");
  const changed = {
    controlPlane: { flavor: "k8s-control-plane", count: 3, zones },
    endpoint: { kind },
    samples: false,
  };
  before(async () => {
    await stack.open();
  });
  after(async () => {
    await stack.cluster.close();
  });
  const act = (serverId: string, action: "os-stop" | "os-start"): Promise<unknown> =>
    stack.cluster.cloud.request("compute", "POST", `/servers/${serverId}/action`, {
      [action]: null,
    });

  /** Returns the availability zones of the control planes in Nova, by position. */
  const zonesOf = (): Promise<string[]> =>
    Promise.all(
      [0, 1, 2].map(async (position) => {
        const path = `/servers/${stack.serverOf(`control-plane-${String(position)}`)}`;
        const { server } = placed.parse(await stack.cluster.cloud.request("compute", "GET", path));
        return server["OS-EXT-AZ:availability_zone"];
      }),
    );

  it("start in one update as members of one etcd, each with its own API server", async () => {
    await stack.up(changed);
    await stack.prove(3);
  });

  it("run in the configured zones, one per zone", async () => {
    assert.deepEqual(await zonesOf(), zones);
  });

  it("are reached by workers through the API's name and the endpoint only", async () => {
    const worker = stack.serverOf("general-0");
    const hosts = await inServer(worker, "grep api.ha.internal /etc/hosts");
    assert.equal(hosts.trim().split("\n").length, 1, hosts);
    const [address = ""] = hosts.split(/\s/);
    assert.ok(!stack.outputs.nodes.some((node) => node.address === address), hosts);
    const kubelet = await inServer(worker, "grep server: /etc/kubernetes/kubelet.conf");
    assert.match(kubelet, /https:\/\/api\.ha\.internal:6443/);
  });

  it("have no changes on a second `up`", async () => {
    await stack.up(changed);
    assert.deepEqual(changes(stack.cluster.seen.events), {});
  });

  it("keep the API available when the leading control plane stops, and elect another leader", async () => {
    const leader = await stack.leader();
    const { serverId = "" } = stack.controlPlanes.find(({ name }) => name === leader) ?? {};
    const use = useApi(stack.outputs.kubeconfig);
    await act(serverId, "os-stop");
    await until(async () => (await stack.leader(leader).catch(() => leader)) !== leader);
    await act(serverId, "os-start");
    const { longestGap, answered, said } = await use.end();
    assert.ok(answered > 50 && longestGap < 30_000, said);
    await until(async () => {
      // The command fails until the server has booted.
      const ready = inServer(serverId, "curl -sk https://localhost:6443/readyz").catch(() => "");
      return (await ready).trim() === "ok";
    });
    await stack.prove(3);
  });

  it("get a replacement for a deleted server in the same zone, without scripts on other machines", async () => {
    const others = stack.outputs.nodes.filter(({ name }) => name !== "ha-control-plane-1");
    const runs = (): Promise<number[]> =>
      Promise.all(others.map(({ serverId }) => scriptRuns(serverId)));
    const before = await runs();
    const lost = await stack.lose("control-plane-1");
    await stack.up(changed, true);
    assert.notEqual(stack.serverOf("control-plane-1"), lost);
    assert.deepEqual(await runs(), before);
    assert.deepEqual(await zonesOf(), zones);
    await stack.prove(3);
    const nodes = await kubectlOn(stack.serverOf("control-plane-1"), "get nodes -o name");
    assert.equal(nodes.trim().split("\n").length, 5, nodes);
  });

  it("are destroyed without leftovers", async () => {
    await stack.destroyAndLookAround();
  });
}
