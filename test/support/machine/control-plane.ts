/** Sandbox for control-plane.sh, with stubs of kubeadm and kubectl. */
import {
  controlPlaneScripts,
  startEncryptionProgram,
  setLabelsAndTaintsProgram,
  issueJoinCredentialsProgram,
  drainForUpgradeProgram,
  approveKubeletCertificatesProgram,
} from "../../../components/kubeadm/node-scripts.js";
import { joinerValues, nodeCommands, upgradeValues } from "./join-stubs.js";
import { Sandbox, type Outcome } from "./sandbox.js";

export const controlPlaneValues = {
  NODE_NAME: "dev-control-plane-0",
  ...joinerValues,
  ...upgradeValues,
  RETIRE_SCRIPT: drainForUpgradeProgram,
  PEERS: "",
  ADDRESS: "10.0.0.5",
  KUBEADM_INIT: "kind: InitConfiguration\n",
  KUBEADM_JOIN: "token: '@TOKEN@'\nhash: '@CA_CERT_HASH@'\nkey: '@CERTIFICATE_KEY@'\n",
  CA_CERT_HASH: "",
  CERTIFICATE_NAMES: "api.dev.internal\n203.0.113.7",
  // Uses a stub, because the real script would change files of the host.
  RENEW_SCRIPT: "#!/bin/bash\nkubectl renewed $1\n",
  RENEWAL_MINUTE: "12",
  FROZEN: "kubernetes.registry.prefix r.example\nnetwork.pods 10.244.0.0/16",
  JOIN_SIGNER: "ssh-ed25519 AAAASIGNER",
  MINT_SCRIPT: issueJoinCredentialsProgram,
  NODE_RANGE: "10.0.0.0/24",
  KUBELET: "1.36.3",
  SCHEDULABLE: "no",
  POD_RANGE_OBJECTS: "",
  NODE_MARKS: "",
  MARKS_SCRIPT: setLabelsAndTaintsProgram,
  CONFIGURATION: "",
  CONFIGURATION_FILES: "",
  ENCRYPTION: "",
  ENCRYPTION_SCRIPT: startEncryptionProgram,
  PATCHES: "",
  KUBELET_CONFIGURATION: "",
  SERVING_SCRIPT: approveKubeletCertificatesProgram,
  KUBE_PROXY_CONFIGURATION: "",
  AFTER_KUBEADM: "",
  VIRTUAL_IP: "",
  VIRTUAL_IP_CONFIG: "",
  VIRTUAL_IP_READY: "",
};

export function controlPlaneMachine(): Sandbox {
  const machine = new Sandbox({
    ...nodeCommands,
    kubeadm:
      'case "$1 $2" in "init --config") mkdir -p /etc/kubernetes/pki; echo CONF >/etc/kubernetes/admin.conf; echo CA >/etc/kubernetes/pki/ca.crt ;; esac',
    kubectl:
      'case "$*" in *readyz*) printf ok ;; *namespace*) printf "uid: the-uid\\nclusterName: dev-0123456789ab\\n" ;; *kubeadm-config*) printf "apiVersion: x\\nclusterName: dev-0123456789ab\\n" ;; esac',
  });
  machine.put("etc/hosts", "127.0.0.1 localhost\n");
  return machine;
}

export const runControlPlane = (
  machine: Sandbox,
  over: Partial<typeof controlPlaneValues> = {},
  occasion?: "update",
): Outcome => machine.run(controlPlaneScripts, { ...controlPlaneValues, ...over }, occasion);

export const initialisations = (calls: readonly string[]): number =>
  calls.filter((call) => call.startsWith("kubeadm init")).length;
