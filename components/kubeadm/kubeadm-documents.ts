import { apiPort } from "../../base/ports.js";
import { kubeadmApiVersion } from "../../base/versions/pinned-versions.js";
import { toYaml } from "../../base/yaml.js";
import { poolLabel, type RoleRow } from "../config/roles.js";
import { kubeletConfiguration, proxyConfiguration } from "./component-configuration.js";

type Fields = Readonly<Record<string, unknown>>;

/** Facts about a machine that kubeadm and kubelet need. */
export interface Node {
  /**
   * Name of the node. Equals the server's name, by which the cloud controller manager finds the
   * server.
   */
  readonly name: string;
  readonly serverId: string;
  readonly address: string;
  /** IPv6 address. @default none */
  readonly ipv6Address?: string | undefined;
  /** Name of the worker pool, for the node's pool label. @default no label */
  readonly pool?: string;
}

export interface NodeSettings {
  /**
   * Whether a cloud controller manager sets the node's addresses and then removes the taint with
   * which the node registers.
   */
  readonly cloudController: boolean;
  readonly ignorePreflightErrors: readonly string[];
  /** Directory with kubeadm's patches for a control plane's static pods. @default none */
  readonly patches?: { readonly directory: string };
}

export interface InitSettings extends NodeSettings {
  readonly clusterName: string;
  /** Kubernetes version, without a leading v. */
  readonly version: string;
  /** Registry of kubeadm's images. With `registry.k8s.io`, kubeadm's default stays. */
  readonly imageRepository: string;
  /** Ranges of pods, IPv4 first. */
  readonly pods: readonly string[];
  /** Ranges of Services, IPv4 first. */
  readonly services: readonly string[];
  /**
   * Name and port of the API. Each machine resolves the name in /etc/hosts (scripts/api-name.sh).
   */
  readonly endpoint: string;
  /**
   * Names and addresses in the API server's certificate, in addition to those that kubeadm adds.
   */
  readonly certificateNames: readonly string[];
  /**
   * `etcd` block for separate etcd machines, or for another image.
   * @default kubeadm's etcd on control planes
   */
  readonly etcd?: Fields;
  /** Whether the pod network replaces kube-proxy. @default false */
  readonly withoutKubeProxy?: boolean;
  /** Blocks of ClusterConfiguration that follow from the settings, without `certSANs`. */
  readonly blocks: Fields;
  /** Fields of KubeletConfiguration. */
  readonly kubelet: Fields;
  /** Fields of KubeProxyConfiguration. */
  readonly kubeProxy: Fields;
}

export interface JoinSettings extends NodeSettings {
  /**
   * Name and port of the API. The machine resolves the name in /etc/hosts (scripts/api-name.sh).
   */
  readonly endpoint: string;
  /**
   * Credentials that the machine gets. A machine that gets `certificates` becomes a control plane.
   */
  readonly grant: RoleRow["grant"];
}

/**
 * Placeholders in a join document. The joining machine replaces the placeholders with credentials
 * from a control plane (machine/scripts/request-join-credentials.sh).
 */
export const placeholders = {
  token: "@TOKEN@",
  caCertHash: "@CA_CERT_HASH@",
  certificateKey: "@CERTIFICATE_KEY@",
} as const;

/**
 * Timeouts of kubeadm. All contain the same placeholder, which the machine replaces with a time
 * that follows the timeout factor (machine/scripts/request-join-credentials.sh). A new factor then
 * changes no document.
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
    // Pods on the host network get the addresses in this order.
    { name: "node-ip", value: [node.address, node.ipv6Address].filter(Boolean).join(",") },
    ...(node.pool === undefined
      ? []
      : [{ name: "node-labels", value: `${poolLabel}=${node.pool}` }]),
  ],
});

const patchesOf = ({ patches }: NodeSettings): Fields => (patches ? { patches } : {});

const documents = (parts: readonly Fields[]): string => parts.map(toYaml).join("---\n");

/** Returns the documents for `kubeadm init` on the first control plane. */
export function initDocuments(node: Node, settings: InitSettings): string {
  const init = {
    apiVersion: kubeadmApiVersion,
    kind: "InitConfiguration",
    // No machine joins with this token: each joining machine gets a separate token.
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
    apiVersion: kubeadmApiVersion,
    kind: "ClusterConfiguration",
    clusterName: settings.clusterName,
    kubernetesVersion: `v${settings.version}`,
    ...(!upstream && { imageRepository: settings.imageRepository }),
    controlPlaneEndpoint: settings.endpoint,
    networking: {
      podSubnet: settings.pods.join(","),
      serviceSubnet: settings.services.join(","),
    },
    // `kubeadm upgrade` reads this field. For `kubeadm init`, `skipPhases` has the same effect.
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

/** Returns the document for `kubeadm join`, with {@link placeholders} for the credentials. */
export function joinDocument(node: Node, settings: JoinSettings): string {
  const { token, caCertHash, certificateKey } = placeholders;
  return documents([
    {
      apiVersion: kubeadmApiVersion,
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
