/** Defines the values of the first machine of a separate etcd cluster. */
import { issueEtcdCertificatesProgram } from "../../../components/etcd/member-scripts.js";
import { askerValues, versionValues } from "./join-stubs.js";

/** Values that the script of an etcd machine receives. */
export const etcdValues = {
  ...askerValues,
  ...versionValues,
  NODE_NAME: "dev-etcd-0",
  ADDRESS: "10.0.0.5",
  BEGINS: "yes",
  KUBEADM_ETCD: "cluster: '@INITIAL_CLUSTER@'\nstate: '@STATE@'\n",
  KUBELET_CONFIG: "kind: KubeletConfiguration\n",
  JOIN_SIGNER: "ssh-ed25519 AAAASIGNER",
  MINT_SCRIPT: issueEtcdCertificatesProgram,
  NODE_RANGE: "10.0.0.0/24",
  KUBELET: "1.36.3",
  AFTER_KUBEADM: "",
};
