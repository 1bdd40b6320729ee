import { splitKubeadmImageReference } from "../../base/versions/container-images.js";
import { etcdPorts } from "../../base/ports.js";
import { toYaml } from "../../base/yaml.js";
import { kubeadmApiVersion } from "../../base/versions/pinned-versions.js";

type Fields = Readonly<Record<string, unknown>>;

export interface EtcdMember {
  /** Name of the machine. The etcd member has the same name. */
  readonly name: string;
  readonly address: string;
}

export interface EtcdSettings {
  /**
   * Kubernetes version without a leading v. The version determines which etcd image kubeadm uses.
   */
  readonly version: string;
  /**
   * Registry of kubeadm's images. With `registry.k8s.io`, the document contains no registry,
   * because this is kubeadm's default.
   */
  readonly imageRepository: string;
  /** Image of etcd. @default the image that kubeadm chooses */
  readonly image?: string | undefined;
}

/**
 * Placeholders for values that are known only on the machine. The values depend on whether the
 * machine starts a new etcd or joins an existing etcd (scripts/etcd-member.sh).
 */
const placeholders = { state: "@STATE@", cluster: "@INITIAL_CLUSTER@" } as const;

/**
 * Returns the documents for the kubeadm phases that create an etcd member: its certificates and its
 * static pod.
 */
export function renderEtcdMemberDocuments(member: EtcdMember, settings: EtcdSettings): string {
  const init = {
    apiVersion: kubeadmApiVersion,
    kind: "InitConfiguration",
    localAPIEndpoint: { advertiseAddress: member.address },
    nodeRegistration: {
      name: member.name,
      criSocket: "unix:///run/containerd/containerd.sock",
    },
  };
  const upstream = settings.imageRepository === "registry.k8s.io";
  const cluster = {
    apiVersion: kubeadmApiVersion,
    kind: "ClusterConfiguration",
    kubernetesVersion: `v${settings.version}`,
    ...(!upstream && { imageRepository: settings.imageRepository }),
    // The period is one day less than the CA's validity. The period must be long, because an
    // upgrade of etcd machines does not renew certificates.
    certificateValidityPeriod: "87576h0m0s",
    etcd: {
      local: {
        dataDir: "/var/lib/etcd",
        ...(settings.image !== undefined && splitKubeadmImageReference(settings.image)),
        extraArgs: [
          { name: "initial-cluster", value: placeholders.cluster },
          { name: "initial-cluster-state", value: placeholders.state },
        ],
      },
    },
  };
  return [init, cluster].map(toYaml).join("---\n");
}

/**
 * Returns the configuration of a kubelet that runs only static pods. This kubelet is not connected
 * to an API server and accepts no clients.
 */
export const renderEtcdKubeletDocument = (own: Fields): string =>
  toYaml({
    cgroupDriver: "systemd",
    ...own,
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    address: "127.0.0.1",
    authentication: { anonymous: { enabled: false }, webhook: { enabled: false } },
    authorization: { mode: "AlwaysAllow" },
    containerRuntimeEndpoint: "unix:///run/containerd/containerd.sock",
    staticPodPath: "/etc/kubernetes/manifests",
  });

/**
 * Directory on control planes for the client certificate with which the API server connects to etcd
 * (scripts/client-certificate.sh).
 */
const home = "/etc/kubernetes/etcd";

/**
 * Returns the `etcd` block for kubeadm if etcd runs on control planes with another image than
 * kubeadm's.
 */
export const buildLocalEtcdBlock = (image: string): Fields => ({
  local: splitKubeadmImageReference(image),
});

/** Returns the `etcd` block for kubeadm if etcd runs on separate machines. */
export const buildExternalEtcdBlock = (addresses: readonly string[]): Fields => ({
  external: {
    endpoints: addresses.map((address) => `https://${address}:${String(etcdPorts.clients)}`),
    caFile: `${home}/ca.crt`,
    certFile: `${home}/client.crt`,
    keyFile: `${home}/client.key`,
  },
});
