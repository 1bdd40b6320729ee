# shellcheck shell=bash disable=SC2154
# Kubernetes' version converges on this node: kubeadm, what kubeadm has to change, then its kubelet while no pod is there. Each step
# looks at what is there, so that a run that was stopped goes on. Read by the scripts that come after this one.
# Those say what is theirs: `may_begin`, whether the cluster bears it; `kubeadm_upgrades`; `retires` and `restores`, which take the
# node's pods away and give it back; `settles`, what is waited for at the end; `lags`, whether the cluster waits for this one;
# `catches_up`, what nobody did because of a machine that was lost meanwhile.
# Values: those of version.sh; IGNORED_ERRORS, preflight checks of kubeadm that may fail.

converge_version() {
  local former
  if is_kept version "$KUBERNETES_VERSION"; then return 0; fi
  # One that has just joined has it, and one that an earlier release made, which never changed it.
  if [[ -e $state/kept-version ]] || ! is_now kubelet || lags; then
    former=$(version_of kubelet)
    not_back
    # Once only: where the drain fails, the cluster may be too unwell by the next run for kubeadm, and need just that this goes on.
    if ! is_kept upgraded "$KUBERNETES_VERSION"; then
      may_begin
      say "$NODE_NAME: Kubernetes $KUBERNETES_VERSION instead of ${former#v}"
      begin version
      get_packages kubeadm cri-tools
      kubeadm_upgrades
      keep upgraded "$KUBERNETES_VERSION"
    fi
    if ! { is_now kubelet && reports_version; }; then
      say "$NODE_NAME: its pods move to other machines, and its kubelet changes"
      retires
      renew_kubelet_package reports_version
    fi
    restores
    settles
    # Copies of what is in use by now; of etcd's data, too.
    rm -rf /etc/kubernetes/tmp/kubeadm-*
  fi
  catches_up
  keep version "$KUBERNETES_VERSION"
  keep upgraded ''
}

# Whether the cluster has seen this kubelet, and it is well. A node may ask for itself.
reports_version() {
  [[ $(as_node get node "$NODE_NAME" -o 'jsonpath={.status.nodeInfo.kubeletVersion} {.status.conditions[?(@.type=="Ready")].status}') == "v$KUBERNETES_VERSION True" ]]
}

# Whether a control plane has brought the version. An API server that does not say is none that says another.
cluster_has_version() {
  local now
  poll 60 cluster_version ||
    die_as KUBERNETES_UNREACHABLE "the API server does not say to $NODE_NAME of which version the cluster is; the next up asks again"
  [[ $now == "v$KUBERNETES_VERSION" ]]
}

# Sets `now`.
cluster_version() {
  now=$(as_node -n kube-system get configmap kubeadm-config -o 'jsonpath={.data.ClusterConfiguration}') || return 1
  now=$(sed -n 's/^kubernetesVersion: //p' <<<"$now")
  [[ -n $now ]]
}

as_node() { timeout "$((20 * factor))" kubectl --kubeconfig /etc/kubernetes/kubelet.conf "$@"; }

# run_kubeadm_upgrade node|apply WORD...: in a unit of its own, which a lost connection does not end.
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

# upgrade_document node|apply: kubeadm takes the directory `upgrade_patches`, if any, either from a document or from a flag.
upgrade_document() {
  printf 'apiVersion: kubeadm.k8s.io/v1beta4\nkind: UpgradeConfiguration\n'
  [[ -z ${upgrade_patches:-} ]] || printf '%s:\n  patches:\n    directory: %s\n' "$1" "$upgrade_patches"
  printf 'timeouts:\n'
  printf "  %s: $(kubeadm_timeout)\n" controlPlaneComponentHealthCheck kubeletHealthCheck kubernetesAPICall
  printf '  upgradeManifests: %ss\n' "$((300 * factor))"
}

# retired CODE SAID: what came of it that the node's pods were to go.
retired() {
  case $1 in
    0) ;;
    4) die_as DRAIN_BLOCKED "$NODE_NAME could not be drained within 10 minutes and keeps its kubelet, in service; what blocks it: $2. Let these pods go, then run up again" ;;
    *) die "no control plane takes the pods of $NODE_NAME away; the next up asks again" ;;
  esac
}
