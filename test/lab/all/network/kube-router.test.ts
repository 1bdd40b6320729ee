import assert from "node:assert/strict";
import { readLabSettings } from "../../../../packages/lab/settings.js";
import { BgpPeer } from "../../support/network/bgp-peer.js";
import { until } from "../../support/cloud/foreign.js";
import { applied, kubectlOn } from "../../support/kubernetes/kubectl.js";
import { changes } from "../../support/stack/lab-cluster.js";
import { Stack } from "../../support/stack/stack.js";

const minutes = 60_000;
const port = 1790;
const service = `
apiVersion: v1
kind: Service
metadata: {name: announced, namespace: default}
spec: {clusterIP: 10.96.0.77, externalIPs: [198.51.100.9], selector: {k8s-app: kube-dns}, ports: [{port: 80, targetPort: 53}]}
`;

describe("kube-router with an external BGP router, on the lab", function () {
  this.timeout(15 * minutes);
  const stack = new Stack("told");
  const router = new BgpPeer(65001);
  const { host } = readLabSettings().external;
  const changed = (advertiseServices: readonly string[]): Record<string, unknown> => ({
    controlPlane: { flavor: "k8s-control-plane", count: 1 },
    workers: { general: { flavor: "k8s-worker", count: 1 } },
    samples: false,
    podNetwork: {
      kind: "kube-router",
      asn: 64600,
      multihop: 8,
      advertiseServices,
      peers: [{ address: host, asn: 65001, port }],
      serviceRanges: ["198.51.100.0/24"],
    },
  });
  const ask = (line: string): Promise<string> =>
    kubectlOn(stack.serverOf("control-plane-0"), line).then((text) => text.trim());
  const times = (range: string): number => router.told().get(range) ?? 0;
  before(async () => {
    await router.listen(port, host);
    await stack.open();
  });
  after(async () => {
    router.close();
    await stack.cluster.close();
  });

  it("advertises each machine's pod range", async () => {
    await stack.up(changed([]));
    await stack.prove(1);
    const ranges = (await ask("get nodes -o jsonpath='{.items[*].spec.podCIDR}'")).split(" ");
    assert.equal(ranges.length, 2);
    await until(() => Promise.resolve(ranges.every((range) => times(range) === 1)));
    assert.equal(times("10.96.0.1/32"), 0);
  });

  it("advertises Services from every machine if configured", async () => {
    await ask(applied(service));
    await stack.up(changed(["cluster-ip", "external-ip"]));
    const all = ["10.96.0.1/32", "10.96.0.77/32", "198.51.100.9/32"];
    await until(() => Promise.resolve(all.every((range) => times(range) === 2)), 300);
    await ask("delete service announced");
    await until(() => Promise.resolve(all.slice(1).every((range) => times(range) === 0)));
    assert.equal(times("10.96.0.1/32"), 2);
    await stack.prove(1);
  });

  it("has no changes on a second `up`", async () => {
    await stack.up(changed(["cluster-ip", "external-ip"]));
    assert.deepEqual(changes(stack.cluster.seen.events), {});
  });

  it("leaves no objects after the cluster is destroyed", async () => {
    await stack.destroyAndLookAround();
  });
});
