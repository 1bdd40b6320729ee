import assert from "node:assert/strict";
import { createImageTable } from "../../../../../base/versions/container-images.js";
import { buildFirewallRules } from "../../../../../components/network/firewall-rules.js";
import {
  getPodNetworkTraits,
  getAddressPairRanges,
} from "../../../../../components/pod-network/pod-network-kinds.js";
import {
  buildKubeRouterDaemonSet,
  renderPeerPasswords,
} from "../../../../../components/pod-network/kube-router/manifests.js";
import { lookups, type AnyObject } from "../../../../support/kubernetes-objects.js";
import { podNetworkOf } from "../../../../support/config/pod-networks.js";

const router = (written: object, passwordsVersion?: string) => {
  const spec = podNetworkOf({ kind: "kube-router", ...written });
  assert.ok(spec.kind === "kube-router");
  const daemonSet = buildKubeRouterDaemonSet({
    image: createImageTable("1.36.3").kubeRouter,
    serviceCidrs: ["10.96.0.0/12"],
    exchangesRoutes: true,
    configChecksum: "0",
    options: spec,
    apiName: "api.dev.internal",
    ...(passwordsVersion !== undefined && { passwordsVersion }),
  });
  const { argsOf, containerOf } = lookups({ router: [daemonSet as unknown as AnyObject] });
  const name = "DaemonSet kube-router";
  return {
    args: argsOf(name, "kube-router"),
    env: containerOf(name, "kube-router").env ?? [],
    text: JSON.stringify(daemonSet),
  };
};
const usual = router({}).args;
const added = (written: object, passwordsVersion?: string): string[] =>
  router(written, passwordsVersion).args.filter((arg) => !usual.includes(arg));
const traitsOf = (written: object) =>
  getPodNetworkTraits(podNetworkOf({ kind: "kube-router", ...written }));
const peers = [
  { address: "10.0.0.250", asn: 65001, password: "CANARY" },
  { address: "198.51.100.7", asn: 65002, port: 1179 },
];

describe("pod-network/kube-router: options", () => {
  it("add no arguments by default", () => {
    const { args } = router({});
    assert.ok(
      args.includes("--run-service-proxy=false") && args.includes("--enable-overlay=false"),
    );
    assert.ok(
      !args.some((arg) => /peer|advertise|asn|hairpin|ip-range=(?!10\.96)/.test(arg)),
      args.join(),
    );
  });

  it("list peers, with number, port and password at the same position", () => {
    assert.deepEqual(added({ peers, multihop: 3, asn: 64600 }, "1"), [
      "--cluster-asn=64600",
      "--peer-router-ips=10.0.0.250,198.51.100.7",
      "--peer-router-asns=65001,65002",
      "--peer-router-ports=179,1179",
      "--peer-router-passwords-file=/etc/kube-router-peers/passwords",
      "--peer-router-multihop-ttl=3",
    ]);
    const decoded = renderPeerPasswords(["a,b", undefined, "ü"]).split(",");
    assert.deepEqual(
      decoded.map((one) => Buffer.from(one, "base64").toString()),
      ["a,b", "", "ü"],
    );
  });

  it("keep passwords out of the pods' arguments", () => {
    assert.doesNotMatch(router({ peers }, "1").text, /CANARY|Q0FOQVJZ/);
  });

  it("announce Services to peers by kube-router's flags", () => {
    const advertiseServices = ["cluster-ip", "external-ip", "load-balancer-ip"];
    const serviceRanges = ["203.0.113.0/24"];
    const args = added({ peers: peers.slice(1), advertiseServices, serviceRanges });
    assert.deepEqual(
      args.filter((arg) => !arg.startsWith("--peer")),
      [
        "--advertise-cluster-ip=true",
        "--advertise-external-ip=true",
        "--advertise-loadbalancer-ip=true",
        // Required: without these ranges, kube-router announces no such addresses.
        "--service-external-ip-range=203.0.113.0/24",
        "--loadbalancer-ip-range=203.0.113.0/24",
      ],
    );
  });

  it("enable the Services' proxy, which refuses external IPs outside the ranges", () => {
    const written = { serviceProxy: true, hairpin: true, serviceRanges: ["203.0.113.0/24"] };
    assert.deepEqual(added(written), [
      "--run-service-proxy=true",
      "--service-external-ip-range=203.0.113.0/24",
      "--loadbalancer-ip-range=203.0.113.0/24",
      "--hairpin-mode=true",
    ]);
    const { replacesKubeProxy, kernelModules } = traitsOf(written);
    assert.equal(replacesKubeProxy, true);
    assert.ok(["ip_vs", "ip_vs_rr"].every((module) => kernelModules.includes(module)));
  });

  it("enable encapsulation with the kernel modules that it needs", () => {
    assert.deepEqual(added({ overlay: "full", tunnel: "fou" }), [
      "--enable-overlay=true",
      "--overlay-type=full",
      "--overlay-encap=fou",
    ]);
    const modules = (written: object): readonly string[] =>
      traitsOf(written).kernelModules.slice(2);
    assert.deepEqual(modules({}), []);
    assert.deepEqual(modules({ overlay: "subnet" }), ["ipip"]);
    assert.deepEqual(modules({ overlay: "full", tunnel: "fou" }), ["ipip", "fou"]);
    assert.equal(traitsOf({ overlay: "full" }).overhead, 20);
    assert.equal(traitsOf({ overlay: "subnet", tunnel: "fou" }).overhead, 32);
  });

  it("extend the ports' allowed address pairs for addresses other than the machines'", () => {
    const network = { pods: "10.244.0.0/16", services: "10.96.0.0/12" };
    const ranges = (written: object) =>
      getAddressPairRanges({
        podNetwork: podNetworkOf({ kind: "kube-router", ...written }),
        network,
      });
    assert.deepEqual(ranges({}), [network.pods, network.services]);
    assert.deepEqual(ranges({ overlay: "full" }), []);
    assert.deepEqual(ranges({ overlay: "full", peers, advertiseServices: ["cluster-ip"] }), [
      network.services,
    ]);
    assert.deepEqual(ranges({ serviceRanges: ["203.0.113.0/24"] }), [
      ...[network.pods, network.services, "203.0.113.0/24"],
    ]);
  });

  it("admit only the peers to BGP on all machines", () => {
    const rules = (written: object) =>
      buildFirewallRules({
        sshCidrs: ["203.0.113.0/24"],
        serviceCidrs: [],
        nodePorts: [],
        adminCidrs: [],
        separate: [],
        nodes: "10.0.0.0/24",
        pods: ["10.244.0.0/16"],
        more: [],
        podNetwork: podNetworkOf({ kind: "kube-router", ...written }),
        entry: "control-plane",
        reached: ["control-plane"],
        etcdOn: ["control-plane"],
        balanced: true,
        loadBalancerProvider: "amphora",
      });
    const before = new Set(rules({}).map(({ key }) => key));
    const opened = rules({ peers }).filter(({ key }) => !before.has(key));
    assert.deepEqual(
      opened.map(({ group, from, protocol, ports }) => ({ group, from, protocol, ports })),
      peers.map(({ address }) => ({
        group: "node",
        from: { range: `${address}/32` },
        protocol: "tcp",
        ports: [179, 179],
      })),
    );
  });
});
