import type { ClusterSpec } from "../spec/cluster-spec.js";
import { versionScripts, versionValues, versionValuesOf } from "../machine/version.js";
import { virtualIpValues } from "../endpoint/keepalived-documents.js";
import { programOf, scriptsBeside } from "../support/static-scripts.js";
import { stepOf } from "../support/steps.js";

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

/** Program on control planes that admits joining machines and reports when they are Ready. */
export const mintScript = program("scripts/mint.sh");
/** Program on control planes that drains nodes while their kubelet is upgraded. */
export const retireScript = program("scripts/drain.sh", "scripts/retire.sh");
/** Program on control planes that sets labels and taints of nodes (keep-marks.sh installs it). */
export const marksScript = program("scripts/marks.sh");
/** Program on control planes that starts to encrypt Secrets when all of them can decrypt. */
export const encryptionScript = program("scripts/encrypt.sh");
/** Program on control planes that approves kubelets' serving certificates. */
export const servingScript = program("scripts/serving.sh");
/** Program on control planes that renews kubeadm's certificates before they expire. */
export const renewScript = program(
  "../machine/scripts/converge.sh",
  "scripts/static-pods.sh",
  "scripts/renew.sh",
);

/** Programs installed on control planes, by the variable in which control-plane.sh reads each. */
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

export const controlPlaneStep = stepOf("control-plane", {
  scripts: controlPlaneScripts,
  programs: controlPlanePrograms,
  tellsCreate: true,
});
export const joinStep = stepOf("join", { scripts: joinScripts });
export const leaveStep = stepOf("leave", { scripts: leaveScripts });
export const teardownStep = stepOf("teardown", { scripts: teardownScripts });
export const snapshotsStep = stepOf("snapshots", { scripts: snapshotsScripts });

/**
 * Returns the minute of each hour at which the control plane at this position checks its
 * certificates. There are at most five, and no two start at the same time.
 */
export const renewalMinute = (position: number): string => String(12 * position).padStart(2, "0");

/** Variables of every joining machine (machine/scripts/peers.sh, scripts/api-name.sh). */
const joinerValues = ["PEERS", "JOIN_PRIVATE_KEY", "JOIN_CERTIFICATE", "API_NAME"] as const;

/** Variables that scripts/upgrade.sh and the scripts before it read. */
const upgradeValues = [...versionValues, "IGNORED_ERRORS"] as const;

/** Returns the values of {@link upgradeValues}. */
export const upgradeValuesOf = (
  spec: Pick<ClusterSpec, "kubernetes">,
): Record<(typeof upgradeValues)[number], string> => ({
  ...versionValuesOf(spec),
  IGNORED_ERRORS: spec.kubernetes.ignorePreflightErrors.join(","),
});

/** Variables that scripts/control-plane.sh and the scripts before it read. */
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
/** Variables that scripts/join.sh and the scripts before it read. */
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
/** Variables that scripts/leave.sh reads. */
export const leaveValues = ["NODE_NAME", "LEAVING_SERVER", "LEAVING_ADDRESS", "LEAVES"] as const;
/** Variables that scripts/teardown.sh reads; the cluster answers everything else. */
export const teardownValues = ["OTHERS"] as const;
