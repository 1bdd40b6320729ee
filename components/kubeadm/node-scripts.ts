import type { ClusterSpec } from "../spec/cluster-spec.js";
import { versionScripts, versionValues, versionValuesOf } from "../machine/version.js";
import { virtualIpValues } from "../endpoint/keepalived-documents.js";
import { programOf, scriptsBeside } from "../support/static-scripts.js";

const read = scriptsBeside(__dirname);
const program = programOf(__dirname);
const common = read("../support/scripts/common.sh");
const joining = [common, read("../machine/scripts/peers.sh"), read("scripts/api-name.sh")];

const converge = read("../machine/scripts/converge.sh");
const staticPods = read("scripts/static-pods.sh");
const kubelet = [
  converge,
  read("../machine/scripts/kubelet.sh"),
  read("../machine/scripts/modes.sh"),
];
const takeBack = read("scripts/take-back.sh");
const draining = read("scripts/drain.sh");
const upgrading = [...versionScripts, read("scripts/upgrade.sh")];

/** Installed on control planes by control-plane.sh; lets machines in and says when they are Ready. */
export const mintScript = program("scripts/mint.sh");
/** Installed on control planes by upgrade-control-plane.sh; takes pods from nodes while their kubelets change. */
export const retireScript = program("scripts/drain.sh", "scripts/retire.sh");
/** Installed on control planes by keep-marks.sh; gives the nodes their labels and taints. */
export const marksScript = program("scripts/marks.sh");
/** Installed on control planes by encryption.sh; encrypts Secrets when all of them can read what is encrypted. */
export const encryptionScript = program("scripts/encrypt.sh");
/** Installed on control planes by signed-kubelets.sh; approves the certificates that kubelets serve with. */
export const servingScript = program("scripts/serving.sh");
/** Installed on control planes by renewal.sh; signs kubeadm's certificates anew before they end. */
export const renewScript = program(
  "../machine/scripts/converge.sh",
  "scripts/static-pods.sh",
  "scripts/renew.sh",
);

/** What control planes have installed, by the variables in which scripts/control-plane.sh and what comes before it read it. */
export const controlPlanePrograms = {
  MINT_SCRIPT: mintScript,
  RETIRE_SCRIPT: retireScript,
  MARKS_SCRIPT: marksScript,
  ENCRYPTION_SCRIPT: encryptionScript,
  SERVING_SCRIPT: servingScript,
  RENEW_SCRIPT: renewScript,
} as const;

export const controlPlaneScripts = [
  ...joining,
  ...kubelet,
  ...upgrading,
  read("scripts/frozen.sh"),
  read("scripts/certificate.sh"),
  read("scripts/renewal.sh"),
  read("scripts/encryption.sh"),
  staticPods,
  read("scripts/configuration.sh"),
  read("scripts/dns.sh"),
  read("scripts/cluster-kubelet.sh"),
  read("scripts/signed-kubelets.sh"),
  read("scripts/kube-proxy.sh"),
  read("scripts/upgrade-control-plane.sh"),
  read("../machine/scripts/offer.sh"),
  read("scripts/keep-marks.sh"),
  takeBack,
  read("../endpoint/scripts/virtual-ip.sh"),
  read("scripts/control-plane.sh"),
] as const;
export const joinScripts = [...joining, ...kubelet, ...upgrading, read("scripts/join.sh")] as const;

export const leaveScripts = [common, draining, read("scripts/leave.sh")] as const;
const releasing = [common, takeBack, read("scripts/release.sh")];
export const teardownScripts = [...releasing, read("scripts/teardown.sh")] as const;
export const snapshotsScripts = [...releasing, read("scripts/snapshots.sh")] as const;
/** When each hour the control plane at this position does that: there are five at most, and no two are to begin together. */
export const renewalMinute = (position: number): string => String(12 * position).padStart(2, "0");

/** What whoever joins reads (machine/scripts/peers.sh, scripts/api-name.sh). */
const joinerValues = ["PEERS", "JOIN_PRIVATE_KEY", "JOIN_CERTIFICATE", "API_NAME"] as const;

/** What scripts/upgrade.sh and what comes before it read. */
const upgradeValues = [...versionValues, "IGNORED_ERRORS"] as const;

/** Their values. */
export const upgradeValuesOf = (
  spec: Pick<ClusterSpec, "kubernetes">,
): Record<(typeof upgradeValues)[number], string> => ({
  ...versionValuesOf(spec),
  IGNORED_ERRORS: spec.kubernetes.ignorePreflightErrors.join(","),
});

/** What scripts/control-plane.sh and what comes before it read. */
export const controlPlaneValues = [
  ...joinerValues,
  ...upgradeValues,
  "NODE_NAME",
  "ADDRESS",
  "KUBEADM_INIT",
  "KUBEADM_JOIN",
  "CA_CERT_HASH",
  "FROZEN",
  "CERTIFICATE_NAMES",
  "RENEWAL_MINUTE",
  "JOIN_SIGNER",
  "NODE_RANGE",
  "KUBELET",
  "SCHEDULABLE",
  "NODE_MARKS",
  "CONFIGURATION",
  "CONFIGURATION_FILES",
  "ENCRYPTION",
  "PATCHES",
  "KUBELET_CONFIGURATION",
  "KUBE_PROXY_CONFIGURATION",
  "AFTER_KUBEADM",
  ...virtualIpValues,
] as const;
/** What scripts/join.sh and what comes before it read. */
export const joinValues = [
  ...joinerValues,
  ...upgradeValues,
  "NODE_NAME",
  "KUBEADM_JOIN",
  "CA_CERT_HASH",
  "API_ADDRESSES",
  "KUBELET",
  "KUBELET_CONFIGURATION",
  "AFTER_KUBEADM",
] as const;
/** What scripts/leave.sh reads. */
export const leaveValues = ["NODE_NAME", "LEAVING_SERVER", "LEAVING_ADDRESS", "LEAVES"] as const;
/** What scripts/teardown.sh reads; the rest it asks the cluster. */
export const teardownValues = ["OTHERS"] as const;
