/** Wait of a script whose statement does not show what happens at the end of the time. */
export interface ScriptEnd {
  /** Name of the script's file. */
  readonly file: string;
  /** Beginning of the awaited command. For a loop: the limit. Empty: the wait has no command. */
  readonly command: string;
  /** Name of the wait. Default: the command. */
  readonly name?: string;
  readonly end: string;
}

const addonsNotReady = "fails with NOT_READY and names the add-on";
const blocked = "fails with TEARDOWN_BLOCKED and names the objects";
const notRegistered = "continues with a note that names the node";

export const scriptEnds: readonly ScriptEnd[] = [
  { file: "reregister-nodes.sh", command: "is_node", end: notRegistered },
  { file: "reregister-nodes.sh", command: "kubectl_here", end: notRegistered },
  { file: "restore.sh", command: "ask_peers", end: "continues without the members of the others" },
  { file: "restore.sh", command: "gone $one", end: "stops the containers of the pod" },
  {
    file: "control-plane-configuration.sh",
    command: "api_answers",
    end: "fails: the API server does not answer",
  },
  {
    file: "request-join-credentials.sh",
    command: "report_joined",
    end: "fails with NOT_READY if the node is not Ready",
  },
  { file: "coredns-image.sh", command: "is_coredns_rolled_out", end: "restores the former image" },
  {
    file: "install-certificate-renewal.sh",
    command: "$volatile/lock",
    end: "the unit fails, and its timer starts it again",
  },
  {
    file: "kube-proxy-configuration.sh",
    command: "kubectl_admin",
    end: "restores the former configuration",
  },
  {
    file: "kubelet-configuration.sh",
    command: "kubectl_admin replace",
    end: "continues with a message that names the file",
  },
  {
    file: "upgrade-control-plane.sh",
    command: "delete_approval_binding",
    end: "fails with KUBERNETES_UNREACHABLE",
  },
  {
    file: "upgrade-control-plane.sh",
    command: "api_answers",
    end: "fails with KUBERNETES_UNREACHABLE",
  },
  { file: "upgrade-control-plane.sh", command: "is_coredns_rolled_out", end: addonsNotReady },
  {
    file: "upgrade-control-plane.sh",
    command: "",
    name: "another updated pod of kube-proxy",
    end: addonsNotReady,
  },
  {
    file: "change-version.sh",
    command: "$@",
    name: "the node with the new kubelet",
    end: "fails with NOT_READY and the last error of kubelet",
  },
  {
    file: "restart-with-rollback.sh",
    command: "is_stable",
    name: "a component after its restart",
    end: "restores the former configuration and fails",
  },
  {
    file: "drain-for-upgrade.sh",
    command: "are_volumes_detached",
    end: "continues with a message that names the node",
  },
  {
    file: "control-plane.sh",
    command: "api_answers_super_admin",
    end: "resets the machine and runs kubeadm init from the beginning",
  },
  ...["load balancers", "volumes"].map((objects) => ({
    file: "release-cluster-objects.sh",
    command: objects,
    name: `the deletion of one of the ${objects}`,
    end: blocked,
  })),
  {
    file: "release-snapshots.sh",
    command: "snapshots",
    name: "the deletion of one of the snapshots",
    end: blocked,
  },
  {
    file: "remove-node.sh",
    command: "try_remove_etcd_member",
    end: "undoes the drain and fails with the answer of etcd",
  },
  {
    file: "load-balancer-updates.sh",
    command: "60",
    name: "the next update of a load balancer of a Service",
    end: "continues with a message that names the Services",
  },
  {
    file: "join-node.sh",
    command: "has_pod_routes",
    end: "continues with a message that names the node",
  },
  {
    file: "remove-node.sh",
    command: "is_token_signed",
    end: "fails with NOT_READY, and returns the node of an interrupted run to service",
  },
  {
    file: "apt-get.sh",
    command: "120",
    name: "the lock of the package lists",
    end: "fails with the error of apt",
  },
  {
    file: "approve-kubelet-certificates.sh",
    command: "3600",
    name: "requests for serving certificates",
    end: "ends, and systemd starts it again",
  },
  {
    file: "issue-join-credentials.sh",
    command: "900",
    name: "the certificate request of a joining node",
    end: "ends; the join fails",
  },
  {
    file: "issue-join-credentials.sh",
    command: "180",
    name: "the joining node, until it is Ready",
    end: "the caller asks again, and then fails",
  },
];

/** Functions whose first argument is the limit of a program, and the file of the function. */
export const limitArguments: readonly { readonly file: string; readonly call: RegExp }[] = [
  { file: "apt-get.sh", call: /\bapt_run (\d+)/g },
  { file: "download-errors.sh", call: /\bpull_image (\d+)/g },
  { file: "request-join-credentials.sh", call: /\bask_peers (\d+)/g },
  { file: "collect-backup.sh", call: /\betcdctl (\d+)/g },
  { file: "restart-with-rollback.sh", call: /\b(?:start|restore)_seconds=(\d+)/g },
];
