/** Calico as pod network and network policy: what its published manifest is told of this cluster (pure). */
import type { ImageRegistry, OwnImages } from "../../../base/images.js";
import type { Late } from "../../support/kubernetes-types.js";
import type { CalicoOptions } from "./options.js";
import {
  changed,
  runHere,
  withChecksum,
  withContainer,
  withData,
  withEdited,
  withVariables,
  type Anchors,
  type ManifestContainer,
  type ManifestObject,
} from "../manifest-objects.js";

export const calicoAnchors: Anchors = {
  configMap: "calico-config",
  daemonSet: "calico-node",
  containers: ["install-cni", "calico-node"],
};

/** Arguments of {@link calicoObjects}. */
export interface CalicoSettings {
  readonly encapsulation: CalicoOptions["encapsulation"];
  /** Range of the pods: addresses come from Calico's own blocks of it. */
  readonly podCidr: string;
  /** The pods' range of IPv6. @default there is none */
  readonly ipv6Pods?: string | undefined;
  /** MTU of the pods' interfaces, bytes. */
  readonly podMtu: Late;
  readonly registry: ImageRegistry | undefined;
  /** Images that stand in for those of the manifest. */
  readonly ownImages?: OwnImages | undefined;
  /** Digest of what the ConfigMap is made of: another one restarts the pods, which install it. */
  readonly configChecksum: Late;
}

/** What wraps the pods' packets, in Calico's words. BIRD exchanges routes where felix itself does not make them. */
const pools = {
  vxlan: { backend: "vxlan", vxlan: "Always", ipip: "Never" },
  "vxlan-cross-subnet": { backend: "vxlan", vxlan: "CrossSubnet", ipip: "Never" },
  ipip: { backend: "bird", vxlan: "Never", ipip: "Always" },
  none: { backend: "bird", vxlan: "Never", ipip: "Never" },
} as const;

/** Where its CNI plugin asks who gives a pod its addresses: those of IPv6 it gives only when told so. */
const ipam = /"type":\s*"calico-ipam"/;

/** The same of a cluster of both families, to whose manifest that has to be told. */
export const calicoAnchorsOf = ({ ipv6 }: { readonly ipv6?: object | undefined }): Anchors =>
  ipv6
    ? {
        ...calicoAnchors,
        data: { key: "cni_network_config", pattern: ipam, says: "calico-ipam" },
      }
    : calicoAnchors;

const ofIpv6 = (pods: string, vxlan: string): Readonly<Record<string, string>> => ({
  FELIX_IPV6SUPPORT: "true",
  IP6: "autodetect",
  IP6_AUTODETECTION_METHOD: "kubernetes-internal-ip",
  CALICO_IPV6POOL_CIDR: pods,
  CALICO_IPV6POOL_VXLAN: vxlan,
  // As of IPv4: nobody outside knows a way back to a pod.
  CALICO_IPV6POOL_NAT_OUTGOING: "true",
});

/** The manifest's objects for this cluster. Calico makes its pool of addresses of them once, when it first starts. */
export function calicoObjects(
  objects: readonly ManifestObject[],
  settings: CalicoSettings,
): readonly ManifestObject[] {
  const { configMap, daemonSet } = calicoAnchors;
  const { backend, vxlan, ipip } = pools[settings.encapsulation];
  const { ipv6Pods } = settings;
  return changed(objects, [
    runHere(settings.registry, settings.ownImages),
    withData(configMap, { calico_backend: backend, veth_mtu: settings.podMtu }),
    withChecksum(daemonSet, settings.configChecksum),
    withContainer(
      daemonSet,
      "calico-node",
      withVariables({
        CALICO_IPV4POOL_CIDR: settings.podCidr,
        CALICO_IPV4POOL_VXLAN: vxlan,
        CALICO_IPV4POOL_IPIP: ipip,
        CLUSTER_TYPE: backend === "bird" ? "k8s,bgp" : "k8s",
        IP: "autodetect",
        // The kubelet's address, whichever interfaces a machine has.
        IP_AUTODETECTION_METHOD: "kubernetes-internal-ip",
        ...(ipv6Pods !== undefined && ofIpv6(ipv6Pods, vxlan)),
      }),
    ),
    ...(ipv6Pods === undefined
      ? []
      : [
          withEdited(configMap, "cni_network_config", (text) =>
            text.replace(ipam, '$&, "assign_ipv4": "true", "assign_ipv6": "true"'),
          ),
        ]),
    ...(backend === "bird" ? [] : [withContainer(daemonSet, "calico-node", withoutBird)]),
  ]);
}

type Probe = { readonly exec?: { readonly command?: readonly string[] } } | undefined;

/** BIRD does not run, so nobody may ask for it. */
function withoutBird(container: ManifestContainer): ManifestContainer {
  const asked = (probe: Probe): object => ({
    ...probe,
    exec: { command: probe?.exec?.command?.filter((word) => !word.startsWith("-bird")) },
  });
  const probes = (["livenessProbe", "readinessProbe"] as const)
    .map((name) => [name, container[name] as Probe] as const)
    .filter(([, probe]) => probe?.exec?.command !== undefined);
  return {
    ...container,
    ...Object.fromEntries(probes.map(([name, probe]) => [name, asked(probe)])),
  };
}
