import type { ClusterSpec } from "../config/cluster-spec.js";
import { versionScripts, versionVariables, getVersionValues } from "../machine/version-scripts.js";
import { virtualIpVariables } from "../endpoint/keepalived-documents.js";
import { createProgramReader, createScriptReader } from "../remote-scripts/script-texts.js";
import { createScriptStep } from "../remote-scripts/script-steps.js";

const read = createScriptReader(__dirname);
const program = createProgramReader(__dirname);
const common = read("../remote-scripts/scripts/common.sh");
const joining = [
  common,
  read("../machine/scripts/request-join-credentials.sh"),
  read("scripts/api-name.sh"),
];

const converge = read("../machine/scripts/restart-with-rollback.sh");
const staticPods = read("scripts/static-pod-health.sh");
const kubelet = [
  converge,
  read("../machine/scripts/configure-kubelet.sh"),
  read("../machine/scripts/file-modes.sh"),
];
const undoTeardown = read("scripts/undo-teardown.sh");
const draining = read("scripts/drain-nodes.sh");
const upgrading = [...versionScripts, read("scripts/upgrade-node.sh")];

/**
 * Program on control planes that issues join credentials to machines and reports when their nodes
 * are Ready.
 */
export const issueJoinCredentialsProgram = program(
  "scripts/load-balancer-updates.sh",
  "scripts/join-token.sh",
  "scripts/programs/issue-join-credentials.sh",
);
/** Program on control planes that drains a node while its kubelet is upgraded. */
export const drainForUpgradeProgram = program(
  "scripts/drain-nodes.sh",
  "scripts/programs/drain-for-upgrade.sh",
);
/**
 * Program on control planes that sets labels and taints of nodes. install-labels-and-taints.sh
 * installs it.
 */
export const setLabelsAndTaintsProgram = program("scripts/programs/set-labels-and-taints.sh");
/**
 * Program on control planes that starts the encryption of Secrets after all control planes are able
 * to decrypt them.
 */
export const startEncryptionProgram = program("scripts/programs/start-encryption.sh");
/** Program on control planes that approves requests of kubelets for serving certificates. */
export const approveKubeletCertificatesProgram = program(
  "scripts/programs/approve-kubelet-certificates.sh",
);
/** Program on control planes that renews kubeadm's certificates before they expire. */
export const renewCertificatesProgram = program(
  "../machine/scripts/restart-with-rollback.sh",
  "scripts/static-pod-health.sh",
  "scripts/programs/renew-certificates.sh",
);

/**
 * Programs that are installed on control planes. Keys are the variables in which control-plane.sh
 * gets the programs.
 */
export const controlPlanePrograms = {
  MINT_SCRIPT: issueJoinCredentialsProgram,
  RETIRE_SCRIPT: drainForUpgradeProgram,
  MARKS_SCRIPT: setLabelsAndTaintsProgram,
  ENCRYPTION_SCRIPT: startEncryptionProgram,
  SERVING_SCRIPT: approveKubeletCertificatesProgram,
  RENEW_SCRIPT: renewCertificatesProgram,
} as const;

export const controlPlaneScripts = [
  ...joining,
  ...kubelet,
  ...upgrading,
  read("scripts/immutable-values.sh"),
  read("scripts/api-server-certificate.sh"),
  read("scripts/install-certificate-renewal.sh"),
  read("scripts/install-encryption.sh"),
  staticPods,
  read("scripts/control-plane-configuration.sh"),
  read("scripts/coredns-image.sh"),
  read("scripts/kubelet-configuration.sh"),
  read("scripts/install-kubelet-certificate-approver.sh"),
  read("scripts/kube-proxy-configuration.sh"),
  read("scripts/upgrade-control-plane.sh"),
  read("../machine/scripts/allow-join-requests.sh"),
  read("scripts/install-labels-and-taints.sh"),
  undoTeardown,
  read("../endpoint/virtual-ip.sh"),
  read("scripts/steps/control-plane.sh"),
] as const;
export const joinScripts = [
  ...joining,
  ...kubelet,
  ...upgrading,
  read("scripts/steps/join-node.sh"),
] as const;

export const leaveScripts = [
  common,
  draining,
  read("scripts/load-balancer-updates.sh"),
  read("scripts/join-token.sh"),
  read("scripts/steps/remove-node.sh"),
] as const;
const releasing = [common, undoTeardown, read("scripts/cloud-object-release.sh")];
export const teardownScripts = [
  ...releasing,
  read("scripts/steps/release-cluster-objects.sh"),
] as const;
export const releaseSnapshotsScripts = [
  ...releasing,
  read("scripts/steps/release-snapshots.sh"),
] as const;

export const controlPlaneStep = createScriptStep("control-plane", {
  scripts: controlPlaneScripts,
  programs: controlPlanePrograms,
  tellsCreate: true,
});
export const joinStep = createScriptStep("join", { scripts: joinScripts });
export const leaveStep = createScriptStep("leave", { scripts: leaveScripts });
export const teardownStep = createScriptStep("teardown", { scripts: teardownScripts });
export const releaseSnapshotsStep = createScriptStep("snapshots", {
  scripts: releaseSnapshotsScripts,
});

/**
 * Returns the minute of each hour at which a control plane checks its certificates. There are at
 * most five control planes, and each has another minute.
 */
export const getRenewalMinute = (position: number): string =>
  String(12 * position).padStart(2, "0");

/**
 * Variables for every joining machine. machine/scripts/request-join-credentials.sh and
 * scripts/api-name.sh read them.
 */
const joinerVariables = ["PEERS", "JOIN_PRIVATE_KEY", "JOIN_CERTIFICATE", "API_NAME"] as const;

/** Variables for scripts/upgrade-node.sh and the scripts that run before it. */
const upgradeVariables = [...versionVariables, "IGNORED_ERRORS"] as const;

/** Returns the values of the variables {@link upgradeVariables}. */
export const getUpgradeValues = (
  spec: Pick<ClusterSpec, "kubernetes">,
): Record<(typeof upgradeVariables)[number], string> => ({
  ...getVersionValues(spec),
  IGNORED_ERRORS: spec.kubernetes.ignorePreflightErrors.join(","),
});

/** Variables for scripts/steps/control-plane.sh and the scripts that run before it. */
export const controlPlaneVariables = [
  ...joinerVariables,
  ...upgradeVariables,
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
  "POD_RANGE_OBJECTS",
  "NODE_MARKS",
  "CONFIGURATION",
  "CONFIGURATION_FILES",
  "ENCRYPTION",
  "PATCHES",
  "KUBELET_CONFIGURATION",
  "KUBE_PROXY_CONFIGURATION",
  "AFTER_KUBEADM",
  ...virtualIpVariables,
] as const;
/** Variables for scripts/steps/join-node.sh and the scripts that run before it. */
export const joinVariables = [
  ...joinerVariables,
  ...upgradeVariables,
  "NODE_NAME",
  "KUBEADM_JOIN",
  "CA_CERT_HASH",
  "API_ADDRESSES",
  "KUBELET",
  "KUBELET_CONFIGURATION",
  "POD_ROUTES",
  "AFTER_KUBEADM",
] as const;
/** Variables for scripts/steps/remove-node.sh. */
export const leaveVariables = [
  "NODE_NAME",
  "LEAVING_SERVER",
  "LEAVING_ADDRESS",
  "LEAVES",
  "DELETES_NODE",
] as const;
/**
 * Variables for scripts/steps/release-cluster-objects.sh. The script gets all other information
 * from the Kubernetes API.
 */
export const teardownVariables = ["OTHERS"] as const;
