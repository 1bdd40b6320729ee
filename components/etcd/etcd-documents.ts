import { splitReference } from "../../base/versions/container-images.js";
import { etcdPorts } from "../../base/ports.js";
import { toYaml } from "../../base/yaml.js";
import { kubeadmApiVersion } from "../../base/versions/pinned-versions.js";

type Fields = Readonly<Record<string, unknown>>;

export interface EtcdMember {
  /** Name of the machine, which is also the name of the member. */
  readonly name: string;
  readonly address: string;
}

export interface EtcdSettings {
  /** Kubernetes version without a leading v. kubeadm derives the version of etcd from it. */
  readonly version: string;
  /** Registry of kubeadm's images; `registry.k8s.io` keeps kubeadm's default. */
  readonly imageRepository: string;
  /** Image of etcd. @default the image that kubeadm chooses */
  readonly image?: string | undefined;
}

/**
 * Placeholders for values that only the machine knows when it starts a new etcd or joins an
 * existing one (scripts/etcd-member.sh).
 */
const placeholders = { state: "@STATE@", cluster: "@INITIAL_CLUSTER@" } as const;

/**
 * Returns the documents for the kubeadm phases that create a member's certificates and static pod.
 */
export function memberDocuments(member: EtcdMember, settings: EtcdSettings): string {
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
    // One day less than the CA's validity: an upgrade of etcd machines renews no certificate, so
    // the certificates must be valid as long as possible.
    certificateValidityPeriod: "87576h0m0s",
    etcd: {
      local: {
        dataDir: "/var/lib/etcd",
        ...(settings.image !== undefined && splitReference(settings.image)),
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
 * Returns the configuration of a kubelet that only runs static pods. This kubelet has no API server
 * and answers no client.
 */
export const kubeletDocument = (own: Fields): string =>
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
export const localEtcd = (image: string): Fields => ({ local: splitReference(image) });

/** Returns the `etcd` block for kubeadm if etcd runs on separate machines. */
export const externalEtcd = (addresses: readonly string[]): Fields => ({
  external: {
    endpoints: addresses.map((address) => `https://${address}:${String(etcdPorts.clients)}`),
    caFile: `${home}/ca.crt`,
    certFile: `${home}/client.crt`,
    keyFile: `${home}/client.key`,
  },
});
