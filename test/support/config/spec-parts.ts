/** Functions that build the parts of a specification which tests change often. */

export const worker = (over: object) => ({
  workers: { general: { flavor: "m", count: 1, ...over } },
});
export const cp = (over: object) => ({ controlPlane: { flavor: "m", ...over } });
export const k8s = (over: object) => ({ kubernetes: over });
export const containerd = (over: object) => k8s({ packages: { containerd: over } });
export const lb = (over: object) => ({ loadBalancer: over });
export const both = (over: object) => ({ network: { ipv6: { nodes: "fd00:10::/64", ...over } } });
export const given = (ingress: object) => ({
  endpoint: { kind: "floating-ip", floatingIp: "203.0.113.7" },
  ingress,
});
/** Pod network that announces Service addresses to a router. */
export const announcing = {
  kind: "kube-router",
  asn: 64600,
  peers: [{ address: "10.0.0.250", asn: 65001 }],
  advertiseServices: ["cluster-ip", "external-ip"],
  serviceRanges: ["198.51.100.0/24"],
};
/**
 * Returns settings for the size of each node's pod range. The keys of `ofFamilies` are suffixes of
 * the flag `node-cidr-mask-size`.
 */
export const shares = (ofFamilies: Readonly<Record<string, unknown>>) => {
  const flags = Object.entries(ofFamilies).map(([end, value]) => [
    `node-cidr-mask-size${end}`,
    value,
  ]);
  return k8s({ controllerManager: { extraArgs: Object.fromEntries(flags) as object } });
};
