import { versionScripts, versionValues } from "../machine/version.js";
import { programOf, scriptsBeside } from "../support/static-scripts.js";
import { stepOf } from "../support/steps.js";

const read = scriptsBeside(__dirname);
const asking = [read("../support/scripts/common.sh"), read("../machine/scripts/peers.sh")] as const;

/** Program on etcd's machines that admits members and signs certificates for control planes. */
export const etcdMintScript = programOf(__dirname)("scripts/mint.sh");

/** Programs installed on etcd's machines, by the variable in which the scripts read each. */
export const memberPrograms = { MINT_SCRIPT: etcdMintScript } as const;

export const memberScripts = [
  ...asking,
  read("../machine/scripts/offer.sh"),
  read("../machine/scripts/converge.sh"),
  read("../machine/scripts/kubelet.sh"),
  read("../machine/scripts/modes.sh"),
  ...versionScripts,
  read("scripts/upgrade.sh"),
  read("scripts/member.sh"),
] as const;
export const clientScripts = [...asking, read("scripts/client.sh")] as const;
export const leaveScripts = [asking[0], read("scripts/leave.sh")] as const;

export const memberStep = stepOf("member", {
  scripts: memberScripts,
  programs: memberPrograms,
  tellsCreate: true,
});
export const clientStep = stepOf("client", { scripts: clientScripts });
export const etcdLeaveStep = stepOf("etcd-leave", { scripts: leaveScripts });

const askerValues = ["PEERS", "JOIN_PRIVATE_KEY", "JOIN_CERTIFICATE", "NODE_NAME"] as const;
/** Variables that scripts/member.sh and the scripts before it read. */
export const memberValues = [
  ...askerValues,
  ...versionValues,
  "ADDRESS",
  "BEGINS",
  "KUBEADM_ETCD",
  "KUBELET_CONFIG",
  "JOIN_SIGNER",
  "NODE_RANGE",
  "KUBELET",
  "AFTER_KUBEADM",
] as const;
/** Variables that scripts/leave.sh reads. */
export const leaveValues = ["NODE_NAME", "LEAVING_ADDRESS"] as const;
/** Variables that scripts/client.sh and the scripts before it read. */
export const clientValues = [...askerValues, "ETCD"] as const;
