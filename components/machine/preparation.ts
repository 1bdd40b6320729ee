import type { ClusterSpec } from "../config/cluster-spec.js";
import { getPublicKeyBase64 } from "../config/machines/machines.js";
import type { UserScripts } from "../config/machines/user-scripts.js";
import { formatTaint, type Taint } from "../plan/cluster-plan.js";
import { roleTable, getRoleTable, type MachineRole } from "../config/roles.js";
import { getPodNetworkTraits } from "../pod-network/pod-network-kinds.js";
import { getPackageSeries } from "../../base/versions/pinned-versions.js";
import { renderContainerdConfig } from "./containerd-documents.js";
import { getEarlyImages, getEarlyImagesPattern } from "./early-images.js";
import { renderRegistryFiles } from "./registry-documents.js";
import { createScriptReader } from "../remote-scripts/script-texts.js";
import { createScriptStep, type ScriptStep } from "../remote-scripts/script-steps.js";
import { ipv6Script } from "./ipv6-script.js";
import { getNewestPackageRepository, packageScripts, getPackageValues } from "./version-scripts.js";

const read = createScriptReader(__dirname);

/** Variables that scripts/prepare/prepare.sh reads. */
export const preparationVariables = [
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
  "CONTAINERD_GENERATION",
  "POD_RANGE",
  "POD_ROUTES",
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

/**
 * Scripts that set SSH login keys, sshd and security updates on every machine, whether or not the
 * machine is a node.
 */
export const hostScripts = [
  read("scripts/authorized-keys.sh"),
  read("scripts/silent-channels.sh"),
  read("scripts/security-updates.sh"),
] as const;

/** Returns the variables of {@link hostScripts}. */
export const getHostValues = ({
  ssh,
  securityUpdates,
}: Pick<ClusterSpec, "ssh" | "securityUpdates">) => ({
  LOGIN_USER: ssh.user,
  // If keys are revoked, the key with which the machines were created may be among the revoked
  // keys. The current key is then added, because otherwise the program could no longer log in.
  LOGIN_KEYS: [...(ssh.revokedKeys.length > 0 ? [ssh.publicKey] : []), ...ssh.loginKeys].join("\n"),
  REVOKED_KEYS: ssh.revokedKeys.map(getPublicKeyBase64).join("\n"),
  SECURITY_UPDATES: securityUpdates ? "yes" : "no",
});

/** Scripts that prepare a machine for kubeadm, joined into one script in this order. */
export const preparationScripts = [
  read("../remote-scripts/scripts/common.sh"),
  ...packageScripts,
  ...hostScripts,
  read("scripts/prepare/check-host.sh"),
  read("scripts/prepare/mount-volumes.sh"),
  read("scripts/prepare/measure-disk-latency.sh"),
  read("scripts/prepare/trust-cloud-ca.sh"),
  read("scripts/prepare/proxy.sh"),
  read("scripts/prepare/repository-keys.sh"),
  read("scripts/prepare/containerd-registries.sh"),
  read("scripts/prepare/containerd-package.sh"),
  read("scripts/prepare/fetch-containerd.sh"),
  read("scripts/prepare/prepare.sh"),
] as const;

/** Steps that prepare a machine for kubeadm, without and with IPv6. */
const prepareStep = createScriptStep("prepare", { scripts: preparationScripts });
const prepareIpv6Step = createScriptStep("prepare", {
  scripts: [...preparationScripts, ipv6Script],
});

/** Returns the step that prepares a machine for kubeadm. */
export const getPreparationStep = ({ ipv6 }: { readonly ipv6?: object | undefined }): ScriptStep =>
  ipv6 ? prepareIpv6Step : prepareStep;

/**
 * Returns the cgroup driver that the user sets for kubelet. Otherwise returns kubeadm's default.
 */
export const getCgroupDriver = ({ kubelet }: ClusterSpec["kubernetes"]): "systemd" | "cgroupfs" =>
  kubelet["cgroupDriver"] === "cgroupfs" ? "cgroupfs" : "systemd";

/** Returns containerd's configuration file, with a placeholder for the pause image of kubeadm. */
export const getContainerdConfig = (kubernetes: ClusterSpec["kubernetes"]): string =>
  renderContainerdConfig({
    cgroupDriver: getCgroupDriver(kubernetes),
    pause: kubernetes.images.pause,
  });

/**
 * Returns the value of POD_ROUTES: `yes` if the pod network sets a route to the pods of each node on
 * every machine. Then no packet to a pod may use the default route. Otherwise returns an empty text.
 * With routes of the cloud, the default route leads to the pods of other nodes. The routes of a pod
 * network that the user deploys are not known.
 */
export function getPodRoutesValue({ podNetwork }: Pick<ClusterSpec, "podNetwork">): "yes" | "" {
  const { routesOfCloud = false, deployedByUser = false } = getPodNetworkTraits(podNetwork);
  return routesOfCloud || deployedByUser ? "" : "yes";
}

/**
 * Settings of single machines or groups, in addition to the settings that their role determines.
 */
export interface PreparationAdditions {
  /** Packages of the distribution. */
  readonly packages?: readonly string[];
  /** Taints of the node, in addition to the taints of its role. */
  readonly taints?: readonly Taint[];
  readonly steps?: Pick<UserScripts, "beforeKubeadm">;
}

/**
 * Variables that other code sets: machine-group.ts sets the values of a single machine, and
 * containerd-values.ts sets the values that machines get one after another.
 */
type Late = "VOLUMES" | "ADMIN_ADDRESS" | "CLOUD_AUTHORITY" | "REGISTRY_AUTH" | "PROXY";

/** Returns the variables of {@link preparationScripts}, except the variables in `Late`. */
export function getPreparationValues(
  spec: Pick<
    ClusterSpec,
    "kubernetes" | "network" | "podNetwork" | "etcd" | "ssh" | "securityUpdates" | "timeoutFactor"
  >,
  role: MachineRole,
  { packages: extra = [], taints = [], steps }: PreparationAdditions = {},
): Record<Exclude<(typeof preparationVariables)[number], Late>, string> {
  const { kubernetes, network, podNetwork } = spec;
  const { version, packages } = kubernetes;
  return {
    KUBEADM_IMAGES: getEarlyImagesPattern(spec, role),
    ...getPackageValues(spec),
    PACKAGES_KEY_FINGERPRINT: packages.keyFingerprint,
    NEWEST_PACKAGES_URL: getNewestPackageRepository(kubernetes),
    CONTAINERD_SOURCE: packages.containerd.source,
    CONTAINERD_KEY: packages.containerd.key,
    CONTAINERD_KEY_FINGERPRINT: packages.containerd.keyFingerprint,
    CONTAINERD_CONFIG: getContainerdConfig(kubernetes),
    REGISTRIES: renderRegistryFiles(kubernetes),
    EXTRA_IMAGES: getEarlyImages(spec, role).join("\n"),
    EXTRA_PACKAGES: extra.join(" "),
    CONTAINERD_SERIES: getPackageSeries(version).containerd,
    POD_RANGE: network.pods,
    POD_ROUTES: getPodRoutesValue(spec),
    NODE_RANGE: network.nodes,
    KERNEL_MODULES: getPodNetworkTraits(podNetwork).kernelModules.join(" "),
    ETCD_DISK: getRoleTable(spec)[role].runsEtcd ? "/var/lib/etcd" : "",
    ...getHostValues(spec),
    BEFORE_KUBEADM: steps?.beforeKubeadm ?? "",
    TIMEOUT_FACTOR: String(spec.timeoutFactor),
    REGISTER_TAINTS:
      taints.length === 0 ? "" : [...roleTable[role].taints, ...taints.map(formatTaint)].join(","),
  };
}
