import { splitReference } from "../../base/images.js";
import { etcdPorts } from "../../base/ports.js";
import { toYaml } from "../../base/yaml.js";
import { kubeadmVersion } from "../../base/versions.js";

type Fields = Readonly<Record<string, unknown>>;

export interface EtcdMember {
  /** Name of the machine and of the member. */
  readonly name: string;
  readonly address: string;
}

export interface EtcdSettings {
  /** Of Kubernetes, which names the version of etcd; without a leading v. */
  readonly version: string;
  /** `registry.k8s.io` means: leave kubeadm's default. */
  readonly imageRepository: string;
  /** An image that stands in for kubeadm's. @default none does */
  readonly image?: string | undefined;
}

/** Stand in the document for what only the machine knows when it begins or joins (scripts/member.sh). */
const placeholders = { state: "@STATE@", cluster: "@INITIAL_CLUSTER@" } as const;

/** The documents for kubeadm's phases that make a member: its certificates and its static pod. */
export function memberDocuments(member: EtcdMember, settings: EtcdSettings): string {
  const init = {
    apiVersion: kubeadmVersion,
    kind: "InitConfiguration",
    localAPIEndpoint: { advertiseAddress: member.address },
    nodeRegistration: {
      name: member.name,
      criSocket: "unix:///run/containerd/containerd.sock",
    },
  };
  const upstream = settings.imageRepository === "registry.k8s.io";
  const cluster = {
    apiVersion: kubeadmVersion,
    kind: "ClusterConfiguration",
    kubernetesVersion: `v${settings.version}`,
    ...(!upstream && { imageRepository: settings.imageRepository }),
    // As long as the authority: no upgrade of these machines renews them.
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

/** A kubelet that runs static pods and nothing else: no API server, and nobody who may ask it. */
export const kubeletDocument = (own: Fields): string =>
  toYaml({
    ...{ cgroupDriver: "systemd", ...own },
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    address: "127.0.0.1",
    authentication: { anonymous: { enabled: false }, webhook: { enabled: false } },
    authorization: { mode: "AlwaysAllow" },
    containerRuntimeEndpoint: "unix:///run/containerd/containerd.sock",
    staticPodPath: "/etc/kubernetes/manifests",
  });

/** Where control planes have what they need to reach etcd (scripts/client.sh). */
const home = "/etc/kubernetes/etcd";

/** What kubeadm's ClusterConfiguration says of an etcd on the control planes, of which nothing is said otherwise. */
export const localEtcd = (image: string): Fields => ({ local: splitReference(image) });

/** What kubeadm's ClusterConfiguration says of an etcd that is not its own. */
export const externalEtcd = (addresses: readonly string[]): Fields => ({
  external: {
    endpoints: addresses.map((address) => `https://${address}:${String(etcdPorts.clients)}`),
    caFile: `${home}/ca.crt`,
    certFile: `${home}/client.crt`,
    keyFile: `${home}/client.key`,
  },
});
