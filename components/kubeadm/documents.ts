import { apiPort } from "../../base/ports.js";
import { kubeadmVersion } from "../../base/versions.js";
import { toYaml } from "../../base/yaml.js";
import { poolLabel, type RoleRow } from "../plan/roles.js";
import { kubeletConfiguration, proxyConfiguration } from "./configuration.js";

type Fields = Readonly<Record<string, unknown>>;

/** A machine as kubeadm and kubelet have to know it. */
export interface Node {
  /** Equals the server's name, by which the cloud controller finds it. */
  readonly name: string;
  readonly serverId: string;
  readonly address: string;
  /** Its address of IPv6. @default it has none */
  readonly ipv6Address?: string | undefined;
  /** Worker pool. @default it carries no label of one */
  readonly pool?: string;
}

export interface NodeSettings {
  /** Whether a cloud controller tells the node its addresses, and takes away the taint that keeps pods off until then. */
  readonly cloudController: boolean;
  readonly ignorePreflightErrors: readonly string[];
  /** Where kubeadm finds patches of a control plane's static pods. @default none */
  readonly patches?: { readonly directory: string };
}

export interface InitSettings extends NodeSettings {
  readonly clusterName: string;
  /** Without a leading v. */
  readonly version: string;
  /** `registry.k8s.io` means: leave kubeadm's default. */
  readonly imageRepository: string;
  /** Ranges of pods and services, that of IPv4 first. */
  readonly pods: readonly string[];
  readonly services: readonly string[];
  /** Name and port of the API, which machines resolve themselves. */
  readonly endpoint: string;
  /** Names and addresses in the API server's certificate, beside kubeadm's own. */
  readonly certificateNames: readonly string[];
  /** What kubeadm is told of an etcd with machines of its own. @default etcd on the control planes */
  readonly etcd?: Fields;
  /** Whether the pod network is the Services' proxy. @default kube-proxy is */
  readonly withoutKubeProxy?: boolean;
  /** Blocks of ClusterConfiguration that arguments decide, but for the names in the certificate. */
  readonly blocks: Fields;
  /** Merged into KubeletConfiguration and KubeProxyConfiguration. */
  readonly kubelet: Fields;
  readonly kubeProxy: Fields;
}

export interface JoinSettings extends NodeSettings {
  /** Name and port of the API, which the machine resolves itself. */
  readonly endpoint: string;
  /** What the machine is given: with certificates it becomes a control plane. */
  readonly grant: RoleRow["grant"];
}

/** Stand in a join document for what a control plane gives for this join (machine/scripts/peers.sh). */
export const placeholders = {
  token: "@TOKEN@",
  caCertHash: "@CA_CERT_HASH@",
  certificateKey: "@CERTIFICATE_KEY@",
} as const;

/**
 * Bounds of kubeadm's own waits. Each is the same placeholder: the machine fills it in (machine/scripts/peers.sh), since only the
 * machine knows its timeout factor, and a change of the factor changes no document.
 */
const timeouts = Object.fromEntries(
  [
    "controlPlaneComponentHealthCheck",
    "discovery",
    "kubeletHealthCheck",
    "kubernetesAPICall",
    "tlsBootstrap",
  ].map((name) => [name, "@TIMEOUT@"]),
);

const registration = (node: Node, settings: NodeSettings): Fields => ({
  name: node.name,
  criSocket: "unix:///run/containerd/containerd.sock",
  imagePullSerial: false,
  ignorePreflightErrors: settings.ignorePreflightErrors,
  kubeletExtraArgs: [
    ...(settings.cloudController ? [{ name: "cloud-provider", value: "external" }] : []),
    { name: "provider-id", value: `openstack:///${node.serverId}` },
    // Pods on the machine's network have the addresses in this order.
    { name: "node-ip", value: [node.address, node.ipv6Address].filter(Boolean).join(",") },
    ...(node.pool === undefined
      ? []
      : [{ name: "node-labels", value: `${poolLabel}=${node.pool}` }]),
  ],
});

const patchesOf = ({ patches }: NodeSettings): Fields => (patches ? { patches } : {});

const documents = (parts: readonly Fields[]): string => parts.map(toYaml).join("---\n");

/** The documents for `kubeadm init` on the first control plane. */
export function initDocuments(node: Node, settings: InitSettings): string {
  const init = {
    apiVersion: kubeadmVersion,
    kind: "InitConfiguration",
    // Nobody joins with it: each joining machine gets a token of its own.
    bootstrapTokens: [{ ttl: "1m0s", description: "kubeadm init" }],
    localAPIEndpoint: { advertiseAddress: node.address, bindPort: apiPort },
    nodeRegistration: registration(node, settings),
    skipPhases: [
      "show-join-command",
      ...(settings.withoutKubeProxy === true ? ["addon/kube-proxy"] : []),
    ],
    ...patchesOf(settings),
    timeouts,
  };
  const upstream = settings.imageRepository === "registry.k8s.io";
  const cluster = {
    apiVersion: kubeadmVersion,
    kind: "ClusterConfiguration",
    clusterName: settings.clusterName,
    kubernetesVersion: `v${settings.version}`,
    ...(!upstream && { imageRepository: settings.imageRepository }),
    controlPlaneEndpoint: settings.endpoint,
    networking: {
      podSubnet: settings.pods.join(","),
      serviceSubnet: settings.services.join(","),
    },
    // What an upgrade goes by; init has its phase.
    ...(settings.withoutKubeProxy === true && { proxy: { disabled: true } }),
    ...settings.blocks,
    apiServer: {
      certSANs: [...settings.certificateNames],
      ...(settings.blocks["apiServer"] as Fields | undefined),
    },
    ...(settings.etcd && { etcd: settings.etcd }),
  };
  const kubelet = kubeletConfiguration(settings.kubelet);
  const proxy = proxyConfiguration(settings.kubeProxy);
  return documents([init, cluster, kubelet, proxy]);
}

/** The document for `kubeadm join`, with placeholders for what is given for one join. */
export function joinDocument(node: Node, settings: JoinSettings): string {
  const { token, caCertHash, certificateKey } = placeholders;
  return documents([
    {
      apiVersion: kubeadmVersion,
      kind: "JoinConfiguration",
      discovery: {
        bootstrapToken: {
          apiServerEndpoint: settings.endpoint,
          token,
          caCertHashes: [caCertHash],
        },
      },
      ...(settings.grant === "certificates" && {
        controlPlane: {
          localAPIEndpoint: { advertiseAddress: node.address, bindPort: apiPort },
          certificateKey,
        },
      }),
      nodeRegistration: registration(node, settings),
      ...patchesOf(settings),
      timeouts,
    },
  ]);
}
