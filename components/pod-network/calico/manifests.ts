/**
 * Adapts Calico's published manifest (pod network and network policies) to a cluster (pure
 * functions).
 */
import type { ImageRegistry, OwnImages } from "../../../base/versions/container-images.js";
import type { StringInput } from "../../kubernetes-objects/kubernetes-types.js";
import type { CalicoOptions } from "./options.js";
import {
  applyChanges,
  replaceImages,
  setChecksumAnnotation,
  changeContainer,
  setConfigMapData,
  editConfigMapData,
  setEnvVars,
  type RequiredManifestParts,
  type ManifestContainer,
  type ManifestObject,
} from "../manifest-objects.js";

export const calicoRequiredParts: RequiredManifestParts = {
  configMap: "calico-config",
  daemonSet: "calico-node",
  containers: ["install-cni", "calico-node"],
};

/** Arguments of {@link buildCalicoObjects}. */
export interface CalicoSettings {
  readonly encapsulation: CalicoOptions["encapsulation"];
  /** CIDR of the pods. Calico assigns blocks of this CIDR to nodes on demand. */
  readonly podCidr: string;
  /** IPv6 CIDR of the pods. @default no IPv6 */
  readonly ipv6Pods?: string | undefined;
  /** MTU of the pods' interfaces, in bytes. */
  readonly podMtu: StringInput;
  readonly registry: ImageRegistry | undefined;
  /** Images that the user supplies in place of images of the manifest. */
  readonly ownImages?: OwnImages | undefined;
  /**
   * Digest of the values in the ConfigMap. The pods install these values when they start, so a
   * changed digest restarts the pods.
   */
  readonly configChecksum: StringInput;
}

/**
 * Calico's settings for each encapsulation. With the backend `bird`, BIRD exchanges routes by BGP.
 * With the backend `vxlan`, Felix creates the routes.
 */
const pools = {
  vxlan: { backend: "vxlan", vxlan: "Always", ipip: "Never" },
  "vxlan-cross-subnet": { backend: "vxlan", vxlan: "CrossSubnet", ipip: "Never" },
  ipip: { backend: "bird", vxlan: "Never", ipip: "Always" },
  none: { backend: "bird", vxlan: "Never", ipip: "Never" },
} as const;

/**
 * Pattern of the IPAM type in the CNI configuration. The settings for IPv6 are inserted after this
 * text.
 */
const ipam = /"type":\s*"calico-ipam"/;

/** Returns the parts that the manifest must contain, with IPv6 also the IPAM type. */
export const getCalicoRequiredParts = ({
  ipv6,
}: {
  readonly ipv6?: object | undefined;
}): RequiredManifestParts =>
  ipv6
    ? {
        ...calicoRequiredParts,
        data: { key: "cni_network_config", pattern: ipam, says: "calico-ipam" },
      }
    : calicoRequiredParts;

const ofIpv6 = (pods: string, vxlan: string): Readonly<Record<string, string>> => ({
  FELIX_IPV6SUPPORT: "true",
  IP6: "autodetect",
  IP6_AUTODETECTION_METHOD: "kubernetes-internal-ip",
  CALICO_IPV6POOL_CIDR: pods,
  CALICO_IPV6POOL_VXLAN: vxlan,
  // As with IPv4, hosts outside the cluster have no route to a pod, so Calico masquerades traffic
  // to them.
  CALICO_IPV6POOL_NAT_OUTGOING: "true",
});

/**
 * Returns the objects of the manifest with the settings of the cluster. Calico reads the settings
 * of the address pool only when it starts for the first time.
 */
export function buildCalicoObjects(
  objects: readonly ManifestObject[],
  settings: CalicoSettings,
): readonly ManifestObject[] {
  const { configMap, daemonSet } = calicoRequiredParts;
  const { backend, vxlan, ipip } = pools[settings.encapsulation];
  const { ipv6Pods } = settings;
  return applyChanges(objects, [
    replaceImages(settings.registry, settings.ownImages),
    setConfigMapData(configMap, { calico_backend: backend, veth_mtu: settings.podMtu }),
    setChecksumAnnotation(daemonSet, settings.configChecksum),
    changeContainer(
      daemonSet,
      "calico-node",
      setEnvVars({
        CALICO_IPV4POOL_CIDR: settings.podCidr,
        CALICO_IPV4POOL_VXLAN: vxlan,
        CALICO_IPV4POOL_IPIP: ipip,
        CLUSTER_TYPE: backend === "bird" ? "k8s,bgp" : "k8s",
        IP: "autodetect",
        // Calico uses the node address that kubelet uses, even if the machine has several
        // interfaces.
        IP_AUTODETECTION_METHOD: "kubernetes-internal-ip",
        ...(ipv6Pods !== undefined && ofIpv6(ipv6Pods, vxlan)),
      }),
    ),
    ...(ipv6Pods === undefined
      ? []
      : [
          editConfigMapData(configMap, "cni_network_config", (text) =>
            text.replace(ipam, '$&, "assign_ipv4": "true", "assign_ipv6": "true"'),
          ),
        ]),
    ...(backend === "bird" ? [] : [changeContainer(daemonSet, "calico-node", withoutBird)]),
  ]);
}

type Probe = { readonly exec?: { readonly command?: readonly string[] } } | undefined;

/** Removes the probes of BIRD from the container, because BIRD does not run with VXLAN. */
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
