import { imageTable, kubeadmImages, type KubeadmImage } from "../../base/images.js";
import type { ClusterSpec } from "../spec/cluster-spec.js";
import { keyIn } from "../spec/machines.js";
import { taintText, type OwnSteps, type Taint } from "../plan/cluster-plan.js";
import { roleTable, rolesOf, type Role } from "../plan/roles.js";
import { podNetworkTraits } from "../pod-network/kinds.js";
import { packageSeries } from "../../base/versions.js";
import { containerdConfig } from "./containerd-documents.js";
import { registryFiles } from "./registry-documents.js";
import { scriptsBeside } from "../support/static-scripts.js";
import { newestPackages, packageScripts, packageValuesOf } from "./version.js";

const read = scriptsBeside(__dirname);

/** What scripts/prepare.sh reads, in the same order. */
export const prepareValues = [
  "KUBEADM_IMAGES",
  "KUBERNETES_VERSION",
  "PACKAGES_URL",
  "PACKAGES_KEY_FINGERPRINT",
  "NEWEST_PACKAGES_URL",
  "CONTAINERD_SOURCE",
  "CONTAINERD_KEY",
  "CONTAINERD_KEY_FINGERPRINT",
  "IMAGE_REPOSITORY",
  "CONTAINERD_CONFIG",
  "CLOUD_AUTHORITY",
  "REGISTRIES",
  "REGISTRY_AUTH",
  "PROXY",
  "EXTRA_IMAGES",
  "EXTRA_PACKAGES",
  "CRI_TOOLS_SERIES",
  "KUBERNETES_CNI_SERIES",
  "CONTAINERD_SERIES",
  "POD_RANGE",
  "NODE_RANGE",
  "KERNEL_MODULES",
  "ETCD_DISK",
  "REGISTER_TAINTS",
  "VOLUMES",
  "ADMIN_ADDRESS",
  "LOGIN_USER",
  "LOGIN_KEYS",
  "REVOKED_KEYS",
  "SECURITY_UPDATES",
  "BEFORE_KUBEADM",
  "TIMEOUT_FACTOR",
] as const;

/** What every machine gets, also one that Kubernetes does not run on: who may log in, and security updates. */
export const hostScripts = [
  read("scripts/logins.sh"),
  read("scripts/security-updates.sh"),
] as const;

/** Their values. */
export const hostValues = ({
  ssh,
  securityUpdates,
}: Pick<ClusterSpec, "ssh" | "securityUpdates">) => ({
  LOGIN_USER: ssh.user,
  // Who has the key revoked that the machines were made with must not lock the program out.
  LOGIN_KEYS: [...(ssh.revokedKeys.length > 0 ? [ssh.publicKey] : []), ...ssh.loginKeys].join("\n"),
  REVOKED_KEYS: ssh.revokedKeys.map(keyIn).join("\n"),
  SECURITY_UPDATES: securityUpdates ? "yes" : "no",
});

/** The script that makes a machine ready for kubeadm. */
export const prepareScripts = [
  read("../support/scripts/common.sh"),
  ...packageScripts,
  ...hostScripts,
  read("scripts/host.sh"),
  read("scripts/volumes.sh"),
  read("scripts/disk.sh"),
  read("scripts/authority.sh"),
  read("scripts/proxy.sh"),
  read("scripts/package-key.sh"),
  read("scripts/registries.sh"),
  read("scripts/containerd-package.sh"),
  read("scripts/prepare.sh"),
] as const;

/** Images that pods on a machine of this role need first: pulled before anything asks for them. */
export function earlyImages(
  spec: Pick<ClusterSpec, "kubernetes" | "podNetwork" | "etcd">,
  role: Role,
): string[] {
  const { kubernetes, podNetwork } = spec;
  const { node, addonImages } = rolesOf(spec)[role];
  const own = replaced(spec, role).flatMap((name) => kubernetes.images[name] ?? []);
  if (!node) return own;
  const images = imageTable(kubernetes.version, kubernetes.registry, kubernetes.images);
  // No node is Ready without its pod network and a cloud controller; storage comes after them.
  const wanted = [
    ...podNetworkTraits(podNetwork).images,
    ...addonImages,
    ...(["cinderCsi", "csiNodeDriverRegistrar"] as const),
  ];
  return [...own, ...wanted.map((name) => images[name])];
}

type Listed = Pick<ClusterSpec, "kubernetes" | "etcd">;

/** Whether pods on a machine of this role need an image of kubeadm's list. */
const needs = (spec: Listed, role: Role, image: string): boolean => {
  const { kubeadmImages: names } = rolesOf(spec)[role];
  return names === "all" || names.includes(image);
};

/** Images of kubeadm's list that a machine of this role needs, and that another stands in for. */
const replaced = (spec: Listed, role: Role): KubeadmImage[] =>
  (Object.keys(kubeadmImages) as KubeadmImage[]).filter(
    (name) => spec.kubernetes.images[name] !== undefined && needs(spec, role, kubeadmImages[name]),
  );

/** Which of the images that kubeadm lists are pulled early: a regular expression of grep -E. */
function pulledEarly(spec: Listed, role: Role): string {
  const names = rolesOf(spec)[role].kubeadmImages;
  const others = replaced(spec, role).map((name): string => kubeadmImages[name]);
  if (names === "all" && others.length === 0) return ".";
  const all = names === "all" ? ["kube-[a-z-]+", ...Object.values(kubeadmImages)] : names;
  return `/(${all.filter((name) => !others.includes(name)).join("|")}):`;
}

/** The cgroup driver that kubelet is told to use; kubeadm's default otherwise. */
export const cgroupDriver = ({ kubelet }: ClusterSpec["kubernetes"]): "systemd" | "cgroupfs" =>
  kubelet["cgroupDriver"] === "cgroupfs" ? "cgroupfs" : "systemd";

/** What not all machines of a role have. */
export interface Additions {
  /** Of the distribution. */
  readonly packages?: readonly string[];
  /** Of the node, besides those of its role. */
  readonly taints?: readonly Taint[];
  readonly steps?: Pick<OwnSteps, "beforeKubeadm">;
}

/** What only a machine or its cloud has (machine-group.ts), and what a machine waits for (runtime-values.ts). */
type Late = "VOLUMES" | "ADMIN_ADDRESS" | "CLOUD_AUTHORITY" | "REGISTRY_AUTH" | "PROXY";

/** The values for {@link prepareScripts}, but those that are late. */
export function preparation(
  spec: Pick<
    ClusterSpec,
    "kubernetes" | "network" | "podNetwork" | "etcd" | "ssh" | "securityUpdates" | "timeoutFactor"
  >,
  role: Role,
  { packages: extra = [], taints = [], steps }: Additions = {},
): Record<Exclude<(typeof prepareValues)[number], Late>, string> {
  const { kubernetes, network, podNetwork } = spec;
  const { version, packages } = kubernetes;
  return {
    KUBEADM_IMAGES: pulledEarly(spec, role),
    ...packageValuesOf(spec),
    PACKAGES_KEY_FINGERPRINT: packages.keyFingerprint,
    NEWEST_PACKAGES_URL: newestPackages(kubernetes),
    CONTAINERD_SOURCE: packages.containerd.source,
    CONTAINERD_KEY: packages.containerd.key,
    CONTAINERD_KEY_FINGERPRINT: packages.containerd.keyFingerprint,
    CONTAINERD_CONFIG: containerdConfig({
      cgroupDriver: cgroupDriver(kubernetes),
      pause: kubernetes.images.pause,
    }),
    REGISTRIES: registryFiles(kubernetes),
    EXTRA_IMAGES: earlyImages(spec, role).join("\n"),
    EXTRA_PACKAGES: extra.join(" "),
    CONTAINERD_SERIES: packageSeries(version).containerd,
    POD_RANGE: network.pods,
    NODE_RANGE: network.nodes,
    KERNEL_MODULES: podNetworkTraits(podNetwork).kernelModules.join(" "),
    ETCD_DISK: rolesOf(spec)[role].runsEtcd ? "/var/lib/etcd" : "",
    ...hostValues(spec),
    BEFORE_KUBEADM: steps?.beforeKubeadm ?? "",
    TIMEOUT_FACTOR: String(spec.timeoutFactor),
    REGISTER_TAINTS:
      taints.length === 0 ? "" : [...roleTable[role].taints, ...taints.map(taintText)].join(","),
  };
}
