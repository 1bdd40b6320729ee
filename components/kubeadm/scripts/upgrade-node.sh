# shellcheck shell=bash
# Upgrades Kubernetes on this node: kubeadm, then the parts that kubeadm upgrades, then kubelet
# while the node is drained. Each step checks the present state, so that the next run continues an
# interrupted upgrade. Library of join-node.sh and control-plane.sh.
# join-node.sh (for workers) and upgrade-control-plane.sh define: `check_upgrade_allowed`, which
# dies if the upgrade must not start; `upgrade_with_kubeadm`, which runs kubeadm upgrade;
# `drain_this_node` and `uncordon_this_node`, which drain the node and make the node schedulable
# again; `wait_for_addons`, which waits at the end; `must_upgrade_cluster`, which succeeds if the
# cluster waits for this node; `upgrade_missed_addons`, which upgrades add-ons that a lost machine
# has not upgraded.
# Values: those of change-version.sh; IGNORED_ERRORS, preflight checks of kubeadm that may fail.

converge_version() {
  local former
  if is_recorded version "$KUBERNETES_VERSION"; then return 0; fi
  # A missing record means that the machine has just joined with this version, or that a release
  # without upgrades created the machine.
  if [[ -e $state/kept-version ]] || ! has_wanted_version kubelet || must_upgrade_cluster; then
    former=$(version_of kubelet)
    refuse_downgrade
    # Runs kubeadm upgrade only once for a version. After a failed drain, the cluster may be too
    # unhealthy for the checks of kubeadm, and may need the rest of this upgrade to recover.
    if ! is_recorded upgraded "$KUBERNETES_VERSION"; then
      check_upgrade_allowed
      say "$NODE_NAME: Kubernetes $KUBERNETES_VERSION instead of ${former#v}"
      record_unfinished version
      get_packages kubeadm cri-tools
      upgrade_with_kubeadm
      record_applied upgraded "$KUBERNETES_VERSION"
    fi
    if ! { has_wanted_version kubelet && is_node_upgraded; }; then
      say "$NODE_NAME: its pods move to other machines, and its kubelet changes"
      drain_this_node
      upgrade_kubelet_package is_node_upgraded
    fi
    uncordon_this_node
    wait_for_addons
    # Deletes kubeadm's backups, which contain etcd's data.
    rm -rf /etc/kubernetes/tmp/kubeadm-*
  fi
  upgrade_missed_addons
  record_applied version "$KUBERNETES_VERSION"
  record_applied upgraded ''
}

# Succeeds if the API shows this node Ready with the new kubelet. Uses the credentials of the node,
# which are sufficient.
is_node_upgraded() {
  [[ $(kubectl_as_node get node "$NODE_NAME" -o 'jsonpath={.status.nodeInfo.kubeletVersion} {.status.conditions[?(@.type=="Ready")].status}') == "v$KUBERNETES_VERSION True" ]]
}

# Succeeds if the cluster has the version, which the first control plane sets. Dies if the API
# server does not answer.
cluster_has_version() {
  local now
  poll 60 cluster_version ||
    die_as KUBERNETES_UNREACHABLE "the API server does not return the version of the cluster to $NODE_NAME; the next up asks again"
  [[ $now == "v$KUBERNETES_VERSION" ]]
}

# Sets `now` to the version of the cluster, such as v1.36.3.
cluster_version() {
  now=$(kubectl_as_node -n kube-system get configmap kubeadm-config -o 'jsonpath={.data.ClusterConfiguration}') || return 1
  now=$(sed -n 's/^kubernetesVersion: //p' <<<"$now")
  [[ -n $now ]]
}

kubectl_as_node() { timeout "$((20 * factor))" kubectl --kubeconfig /etc/kubernetes/kubelet.conf "$@"; }

# run_kubeadm_upgrade node|apply WORD...: runs kubeadm upgrade in a systemd unit, so that a lost SSH
# connection does not end it.
run_kubeadm_upgrade() {
  local finished=$volatile/upgrade.done document=$volatile/upgrade.yaml command
  upgrade_document "$1" | write "$document" 0600
  set -- "$@" --config "$document"
  [[ -z $IGNORED_ERRORS ]] || set -- "$@" --ignore-preflight-errors "$IGNORED_ERRORS"
  printf -v command '%q ' kubeadm upgrade "$@"
  if ! unit_running upgrade; then
    rm -f "$finished"
    say "$NODE_NAME: kubeadm upgrade $1"
    start_unit upgrade 2400 /bin/sh -c "$command && touch $finished"
  fi
  wait_unit upgrade 2410
  [[ -e $finished ]]
}

# upgrade_document node|apply: prints the UpgradeConfiguration, with the directory `upgrade_patches`
# if set. kubeadm does not accept --patches together with --config.
upgrade_document() {
  printf 'apiVersion: kubeadm.k8s.io/v1beta4\nkind: UpgradeConfiguration\n'
  [[ -z ${upgrade_patches:-} ]] || printf '%s:\n  patches:\n    directory: %s\n' "$1" "$upgrade_patches"
  printf 'timeouts:\n'
  printf "  %s: $(kubeadm_timeout)\n" controlPlaneComponentHealthCheck kubeletHealthCheck kubernetesAPICall
  printf '  upgradeManifests: %ss\n' "$((300 * factor))"
}

# check_drain_result CODE SAID: dies unless CODE, the exit code of a drain, is 0. SAID names the
# pods that block the drain.
check_drain_result() {
  case $1 in
    0) ;;
    4) die_as DRAIN_BLOCKED "$NODE_NAME could not be drained and stays in service; what blocks it: $2. Delete these pods or change what protects them, then run up again" ;;
    *) die "no control plane drains $NODE_NAME; the next up tries again" ;;
  esac
}
