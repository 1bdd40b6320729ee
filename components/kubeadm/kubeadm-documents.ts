import { apiPort } from "../../base/ports.js";
import { kubeadmApiVersion } from "../../base/versions/pinned-versions.js";
import { toYaml } from "../../base/yaml.js";
import { poolLabel, type RoleRow } from "../config/roles.js";
import {
  buildKubeletConfiguration,
  buildKubeProxyConfiguration,
} from "./component-configuration.js";

type Fields = Readonly<Record<string, unknown>>;

/** Facts about a machine that kubeadm and kubelet need. */
export interface NodeFacts {
  /**
   * Name of the node, which equals the server's name. The cloud controller manager finds the server
   * by this name.
   */
  readonly name: string;
  readonly serverId: string;
  readonly address: string;
  /** IPv6 address. @default none */
  readonly ipv6Address?: string | undefined;
  /** Name of the worker pool, for the label of the node. @default no label */
  readonly pool?: string;
}

export interface NodeSettings {
  /**
   * Whether the cluster has a cloud controller manager. The node then registers with a taint. The
   * cloud controller manager sets the node's addresses and removes the taint.
   */
  readonly cloudController: boolean;
  readonly ignorePreflightErrors: readonly string[];
  /** Directory with kubeadm's patches for the static pods of a control plane. @default none */
  readonly patches?: { readonly directory: string };
}

export interface InitSettings extends NodeSettings {
  readonly clusterName: string;
  /** Kubernetes version without a leading v. */
  readonly version: string;
  /**
   * Registry of kubeadm's images. With `registry.k8s.io`, the document contains no registry,
   * because this is kubeadm's default.
   */
  readonly imageRepository: string;
  /** Pod ranges. The IPv4 range is first. */
  readonly pods: readonly string[];
  /** Service ranges. The IPv4 range is first. */
  readonly services: readonly string[];
  /**
   * Name and port of the API. Each machine resolves the name in /etc/hosts (scripts/api-name.sh).
   */
  readonly endpoint: string;
  /**
   * Names and addresses for the API server's certificate, in addition to those that kubeadm adds.
   */
  readonly certificateNames: readonly string[];
  /**
   * `etcd` block for etcd on separate machines, or for another image of etcd.
   * @default kubeadm's etcd on control planes
   */
  readonly etcd?: Fields;
  /** Whether the pod network replaces kube-proxy. @default false */
  readonly withoutKubeProxy?: boolean;
  /** Blocks of ClusterConfiguration that the settings determine, without `certSANs`. */
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
   * Kind of credentials that the machine may request to join. With `certificates`, the machine
   * becomes a control plane.
   */
  readonly grant: RoleRow["grant"];
}

/**
 * Placeholders in a join document. The joining machine requests the credentials from a control
 * plane and puts them in the place of the placeholders
 * (machine/scripts/request-join-credentials.sh).
 */
export const joinDocumentPlaceholders = {
  token: "@TOKEN@",
  caCertHash: "@CA_CERT_HASH@",
  certificateKey: "@CERTIFICATE_KEY@",
} as const;

/**
 * Timeouts of kubeadm. All timeouts contain the same placeholder. The machine replaces the
 * placeholder with a time that depends on the timeout factor
 * (machine/scripts/request-join-credentials.sh). The documents therefore do not change with the
 * timeout factor.
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

const registration = (node: NodeFacts, settings: NodeSettings): Fields => ({
  name: node.name,
  criSocket: "unix:///run/containerd/containerd.sock",
  imagePullSerial: false,
  ignorePreflightErrors: settings.ignorePreflightErrors,
  kubeletExtraArgs: [
    ...(settings.cloudController ? [{ name: "cloud-provider", value: "external" }] : []),
    { name: "provider-id", value: `openstack:///${node.serverId}` },
    // Pods on the host network get the node's addresses in this order.
    { name: "node-ip", value: [node.address, node.ipv6Address].filter(Boolean).join(",") },
    ...(node.pool === undefined
      ? []
      : [{ name: "node-labels", value: `${poolLabel}=${node.pool}` }]),
  ],
});

const patchesOf = ({ patches }: NodeSettings): Fields => (patches ? { patches } : {});

const documents = (parts: readonly Fields[]): string => parts.map(toYaml).join("---\n");

/** Returns the documents for `kubeadm init` on the first control plane. */
export function renderInitDocuments(node: NodeFacts, settings: InitSettings): string {
  const init = {
    apiVersion: kubeadmApiVersion,
    kind: "InitConfiguration",
    // This token is not used, because each joining machine gets a separate token.
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
    // Only `kubeadm upgrade` needs this field. For `kubeadm init`, `skipPhases` above has the same
    // effect.
    ...(settings.withoutKubeProxy === true && { proxy: { disabled: true } }),
    ...settings.blocks,
    apiServer: {
      certSANs: [...settings.certificateNames],
      ...(settings.blocks["apiServer"] as Fields | undefined),
    },
    ...(settings.etcd && { etcd: settings.etcd }),
  };
  const kubelet = buildKubeletConfiguration(settings.kubelet);
  const proxy = buildKubeProxyConfiguration(settings.kubeProxy);
  return documents([init, cluster, kubelet, proxy]);
}

/**
 * Returns the document for `kubeadm join`. The document contains {@link joinDocumentPlaceholders}
 * in the place of credentials.
 */
export function renderJoinDocument(node: NodeFacts, settings: JoinSettings): string {
  const { token, caCertHash, certificateKey } = joinDocumentPlaceholders;
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
