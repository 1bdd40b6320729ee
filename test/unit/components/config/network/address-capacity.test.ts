import assert from "node:assert/strict";
import { parseClusterSpec } from "../../../../../components/config/cluster-spec.js";
import { smallest, specOf } from "../../../../support/config/spec.js";

const problems = (over: object): string[] => {
  const result = parseClusterSpec({ ...smallest, ...over });
  return "problems" in result
    ? result.problems.map(({ path, message }) => `${path}: ${message}`)
    : [];
};
/** Returns settings with this number of workers. */
const workers = (count: number) => ({ workers: { general: { flavor: "m", count } } });

describe("network ranges", () => {
  it("require addresses for all machines, including etcd's and the bastion", () => {
    const network = { nodes: "10.0.0.0/29" };
    assert.deepEqual(problems({ network, ...workers(3) }), []);
    const bastion = { access: "bastion", bastion: { flavor: "m" } };
    const etcd = { etcd: { kind: "dedicated", flavor: "m", count: 1 } };
    for (const more of [workers(4), { ...workers(3), ...bastion }, { ...workers(3), ...etcd }])
      assert.deepEqual(problems({ network, ...more }), [
        "cluster.network.nodes: 10.0.0.0/29 has addresses for 4 machines, and 5 are needed; write a larger range, or fewer machines if the cluster already exists",
      ]);
  });

  it("of an existing network are not checked", () => {
    const network = { nodes: "10.0.0.0/29", existing: { network: "office" } };
    assert.deepEqual(problems({ network, ...workers(9) }), []);
  });

  it("of pods require a subnet for each node, with the controller manager's mask size or kubeadm's", () => {
    const network = { pods: "10.244.0.0/23" };
    assert.deepEqual(problems({ network, ...workers(1) }), []);
    assert.deepEqual(problems({ network, ...workers(2) }), [
      "cluster.network.pods: 10.244.0.0/23 has a /24 for 2 nodes, and 3 are needed; write a larger range, or fewer machines if the cluster already exists",
    ]);
    for (const flag of ["node-cidr-mask-size", "node-cidr-mask-size-ipv4"]) {
      const kubernetes = { controllerManager: { extraArgs: { [flag]: "25" } } };
      assert.deepEqual(problems({ network, kubernetes, ...workers(3) }), []);
      assert.equal(problems({ network, kubernetes, ...workers(4) }).length, 1);
    }
  });

  it("of pods limit the number of pods on a node", () => {
    const kubelet = (maxPods: number, size: object = {}) =>
      problems({ kubernetes: { kubelet: { maxPods }, ...size } });
    const small = { controllerManager: { extraArgs: { "node-cidr-mask-size-ipv4": 26 } } };
    assert.deepEqual(kubelet(253), []);
    assert.deepEqual(kubelet(61, small), []);
    assert.deepEqual(kubelet(254), [
      "cluster.kubernetes.kubelet.maxPods: 254 pods are more than the 253 addresses of a node; write at most 253, or in a new cluster a smaller kubernetes.controllerManager.extraArgs.node-cidr-mask-size-ipv4",
    ]);
    assert.match(kubelet(62, small).join(), /62 pods are more than the 61 addresses of a node/);
    const manifest = { source: "calico.yaml", sha256: "0".repeat(64) };
    const podNetwork = { kind: "calico", manifest };
    assert.deepEqual(problems({ podNetwork, kubernetes: { kubelet: { maxPods: 500 } } }), []);
  });

  it("of pods set kubelet's maxPods if a node has fewer addresses than kubelet's default", () => {
    const kubeletOf = (size: number, kubelet = {}): unknown =>
      specOf({
        kubernetes: { kubelet, controllerManager: { extraArgs: { "node-cidr-mask-size": size } } },
      }).kubernetes.kubelet;
    assert.deepEqual(kubeletOf(25), {});
    assert.deepEqual(kubeletOf(26), { maxPods: 61 });
    assert.deepEqual(kubeletOf(26, { maxPods: 40 }), { maxPods: 40 });
    // Most pods of a control plane have the address of the node, so a smaller share has room for them.
    for (const share of [28, 30]) assert.deepEqual(kubeletOf(share), { maxPods: 15 });
  });

  it("include addresses for the API or the ingress", () => {
    const network = { nodes: "10.0.0.0/29" };
    const ingress = { kind: "workers", pool: "general" };
    for (const more of [{ endpoint: { kind: "virtual-ip" } }, { ingress }])
      assert.match(
        problems({ network, ...more, ...workers(3) }).join(),
        /has addresses for 3 machines in addition to 1 for the API or the ingress, and 4 are needed/,
      );
    const existing = { ...network, existing: { network: "office" } };
    assert.deepEqual(problems({ network: existing, ingress, ...workers(9) }), []);
  });

  it("of pods only require kubeadm's limits if the pod network allocates addresses itself", () => {
    const sha256 = "0".repeat(64);
    const calico = { kind: "calico", manifest: { source: "calico.yaml", sha256 } };
    for (const podNetwork of ["none", calico]) {
      const of = (pods: string) => problems({ podNetwork, network: { pods }, ...workers(9) });
      assert.deepEqual(of("10.244.0.0/24"), []);
      assert.match(of("10.244.0.0/25").join(), /is less than the \/24 that each node gets of it/);
      assert.match(
        of("32.0.0.0/7").join(),
        /is more than kubeadm shares out by \/24; .* a \/8, or /,
      );
    }
  });

  it("of Services must be between /12 and /28, as kubeadm requires", () => {
    const of = (services: string) => problems({ network: { services } });
    for (const services of ["10.96.0.0/12", "10.96.0.0/28"]) assert.deepEqual(of(services), []);
    assert.match(of("10.96.0.0/29").join(), /is less than kubeadm accepts; write at least a \/28$/);
    assert.match(of("32.0.0.0/11").join(), /is more than kubeadm accepts; write at most a \/12$/);
  });
});
