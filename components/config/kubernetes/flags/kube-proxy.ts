import { check, free, listEntries, nothing, only, refuse, type Decisions } from "./decision.js";

const kubeadm = refuse("is kubeadm's; leave it out");

/** Addresses at which only programs on the node itself can connect. */
const loopback = /^(localhost|127\..*|::1(\/128)?)$/;

/**
 * Returns the problem of the field `nodePortAddresses`, or undefined. An empty list means the
 * default of kube-proxy.
 */
function findNodePortProblem(value: unknown): string | undefined {
  const ranges = Array.isArray(value) ? listEntries(value) : [];
  return ranges.length > 0 && ranges.every((range) => loopback.test(range))
    ? "has no address at which a load balancer reaches a node; write primary, too"
    : undefined;
}

/** Decisions about the fields of KubeProxyConfiguration in kube-proxy 1.36. */
export const kubeProxyDecisions = {
  apiVersion: kubeadm,
  bindAddress: only(["0.0.0.0", "::", ""], "would be the address of every node; leave it out"),
  bindAddressHardFail: free,
  "clientConnection.acceptContentTypes": free,
  "clientConnection.burst": free,
  "clientConnection.contentType": free,
  "clientConnection.kubeconfig": refuse("is a file of kubeadm's; leave it out"),
  "clientConnection.qps": free,
  clusterCIDR: { ...free, kept: nothing },
  configSyncPeriod: free,
  "conntrack.maxPerCore": free,
  "conntrack.min": free,
  "conntrack.tcpBeLiberal": free,
  "conntrack.tcpCloseWaitTimeout": free,
  "conntrack.tcpEstablishedTimeout": free,
  "conntrack.udpStreamTimeout": free,
  "conntrack.udpTimeout": free,
  "detectLocal.bridgeInterface": free,
  "detectLocal.interfaceNamePrefix": free,
  detectLocalMode: free,
  enableProfiling: free,
  featureGates: free,
  healthzBindAddress: refuse("is where load balancers check kube-proxy; leave it out"),
  hostnameOverride: refuse("would be the name of every node; leave it out"),
  "iptables.localhostNodePorts": free,
  "iptables.masqueradeAll": free,
  "iptables.masqueradeBit": free,
  "iptables.minSyncPeriod": free,
  "iptables.syncPeriod": free,
  "ipvs.excludeCIDRs": free,
  "ipvs.minSyncPeriod": free,
  "ipvs.scheduler": free,
  "ipvs.strictARP": free,
  "ipvs.syncPeriod": free,
  "ipvs.tcpFinTimeout": free,
  "ipvs.tcpTimeout": free,
  "ipvs.udpTimeout": free,
  kind: kubeadm,
  logging: free,
  metricsBindAddress: free,
  mode: {
    ...only(
      ["iptables", "nftables", "ipvs"],
      "is not known here; write iptables or nftables or ipvs",
    ),
    kept: "iptables",
  },
  "nftables.masqueradeAll": free,
  "nftables.masqueradeBit": free,
  "nftables.minSyncPeriod": free,
  "nftables.syncPeriod": free,
  nodePortAddresses: check(findNodePortProblem),
  oomScoreAdj: free,
  portRange: free,
  showHiddenMetricsForVersion: free,
  windowsRunAsService: free,
  "winkernel.enableDSR": free,
  "winkernel.forwardHealthCheckVip": free,
  "winkernel.networkName": free,
  "winkernel.rootHnsEndpointName": free,
  "winkernel.sourceVip": free,
} satisfies Decisions;
