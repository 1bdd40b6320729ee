import { versionScripts, versionVariables } from "../machine/version-scripts.js";
import { createProgramReader, createScriptReader } from "../remote-scripts/script-texts.js";
import { createScriptStep } from "../remote-scripts/script-steps.js";

const read = createScriptReader(__dirname);
const asking = [
  read("../remote-scripts/scripts/common.sh"),
  read("../machine/scripts/request-join-credentials.sh"),
] as const;

/**
 * Program on etcd machines that admits new members and signs client certificates for control
 * planes.
 */
export const issueEtcdCertificatesProgram = createProgramReader(__dirname)(
  "scripts/issue-etcd-certificates.sh",
);

/**
 * Programs that are installed on etcd machines. Keys are the variables in which the scripts get the
 * programs.
 */
export const etcdMachinePrograms = { MINT_SCRIPT: issueEtcdCertificatesProgram } as const;

export const etcdMemberScripts = [
  ...asking,
  read("../machine/scripts/allow-join-requests.sh"),
  read("../machine/scripts/restart-with-rollback.sh"),
  read("../machine/scripts/configure-kubelet.sh"),
  read("../machine/scripts/file-modes.sh"),
  ...versionScripts,
  read("scripts/upgrade-etcd.sh"),
  read("scripts/etcd-member.sh"),
] as const;
export const etcdClientCertificateScripts = [
  ...asking,
  read("scripts/client-certificate.sh"),
] as const;
export const etcdQuorumScripts = [asking[0], read("scripts/check-etcd-quorum.sh")] as const;

export const etcdMemberStep = createScriptStep("member", {
  scripts: etcdMemberScripts,
  programs: etcdMachinePrograms,
  tellsCreate: true,
});
export const etcdClientCertificateStep = createScriptStep("client", {
  scripts: etcdClientCertificateScripts,
});
export const etcdQuorumStep = createScriptStep("etcd-leave", { scripts: etcdQuorumScripts });

const askerVariables = ["PEERS", "JOIN_PRIVATE_KEY", "JOIN_CERTIFICATE", "NODE_NAME"] as const;
/** Variables for scripts/etcd-member.sh and the scripts that run before it. */
export const etcdMemberVariables = [
  ...askerVariables,
  ...versionVariables,
  "ADDRESS",
  "BEGINS",
  "KUBEADM_ETCD",
  "KUBELET_CONFIG",
  "JOIN_SIGNER",
  "NODE_RANGE",
  "KUBELET",
  "AFTER_KUBEADM",
] as const;
/** Variables for scripts/check-etcd-quorum.sh. */
export const etcdQuorumVariables = ["NODE_NAME", "LEAVING_ADDRESS"] as const;
/** Variables for scripts/client-certificate.sh and the scripts that run before it. */
export const etcdClientCertificateVariables = [...askerVariables, "ETCD"] as const;
