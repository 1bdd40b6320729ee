# shellcheck shell=bash disable=SC2034
# Defines the functions that upgrade-node.sh calls on a control plane. Library of control-plane.sh,
# after upgrade-node.sh.
# Values: KUBEADM_INIT, empty except on the first control plane, which is upgraded first; PATCHES;
# RETIRE_SCRIPT, the program that drains nodes, also workers (drain-for-upgrade.sh).

readonly drain_program=/usr/local/sbin/stackadm-retire
# Label that kubeadm sets on control planes.
readonly control_planes=node-role.kubernetes.io/control-plane

install_drain_program() { write "$drain_program" 0755 "$RETIRE_SCRIPT"; }

# Restores manifests after an interrupted upgrade. kubeadm moves the old manifest away before it
# writes the new manifest. Without a manifest, the component does not run.
restore_upgrade_manifests() {
  local backup
  file_equals "$state/kept-version" 'not finished' || return 0
  for backup in /etc/kubernetes/tmp/kubeadm-backup-manifests-*/*.yaml; do
    if [[ -e $backup && ! -e $manifests/${backup##*/} ]] && ! unit_running upgrade; then
      mv -f "$backup" "$manifests/"
      restored=yes
    fi
  done
}

# Refuses an upgrade if other nodes are not Ready. The first control plane checks all nodes, every
# other control plane checks only the control planes. kubeadm checks the health of etcd.
check_upgrade_allowed() {
  local selector=$control_planes wanting
  [[ -z $KUBEADM_INIT ]] || selector=''
  poll 120 are_nodes_ready "$selector" ||
    die_as NOT_READY "Kubernetes is not upgraded while not all machines are Ready: ${wanting:-the API server does not say which}; bring them back, or take their nodes out of the cluster, and run up again"
}

# are_nodes_ready SELECTOR: succeeds if all other nodes are Ready. Sets `wanting` to the nodes that
# are not Ready. Ignores this node, which may be upgraded although it is not Ready.
are_nodes_ready() {
  local states
  states=$(kubectl_admin get nodes -l "$1" -o 'jsonpath={range .items[*]}{.metadata.name} {.status.conditions[?(@.type=="Ready")].status}{"\n"}{end}') || return 1
  wanting=$(awk -v self="$NODE_NAME" 'NF && $1 != self && $2 != "True" { printf "%s%s", sep, $1; sep = ", " }' <<<"$states")
  [[ -z $wanting ]]
}

# Succeeds if this is the first control plane and the cluster has another version. This happens if
# the machine was recreated with new packages during an upgrade.
must_upgrade_cluster() {
  local now
  [[ -n $KUBEADM_INIT ]] && cluster_version && [[ $now != "v$KUBERNETES_VERSION" ]]
}

upgrade_with_kubeadm() {
  local words=(node) upgrade_patches=''
  # shellcheck disable=SC2034 # upgrade-node.sh reads it
  [[ -z $PATCHES ]] || upgrade_patches=$own_patches
  if [[ -n $KUBEADM_INIT ]]; then
    words=(apply "v$KUBERNETES_VERSION" --yes)
  elif ! cluster_has_version; then
    die "the cluster is not of version $KUBERNETES_VERSION yet; its first control plane is upgraded first: start that one and run up again"
  fi
  run_kubeadm_upgrade "${words[@]}" || upgrade_failed
  # Deletes the binding that kubeadm upgrade creates again. With this binding, any bootstrap token
  # gets the certificate of any node.
  { wait_until_stable 240 api_answers && poll 30 delete_approval_binding; } ||
    die_as KUBERNETES_UNREACHABLE "the API server of $NODE_NAME does not answer after its upgrade; crictl logs there says why"
}

upgrade_failed() {
  local component said=''
  component=$(print_log_of_run | sed -n 's/^.*Preparing for "\(.*\)" upgrade$/\1/p' | tail -n 1)
  # The container for which kubeadm waited has exited, and the former container runs again.
  [[ -z $component ]] || said=$(print_exit_error "$component")
  die "kubeadm upgrade failed on $NODE_NAME$(print_kubeadm_error)${said:+; $component said: $said}"
}

print_exit_error() {
  local ended
  ended=$(timeout "$((20 * factor))" crictl ps --all --quiet --state exited --name "^$1\$") || return 0
  [[ -z $ended ]] || timeout "$((20 * factor))" crictl logs --tail 50 "${ended%%$'\n'*}" 2>&1 | print_last_error
}

drain_this_node() {
  local said code=0
  # Shows the progress of the drain to the user.
  said=$("$drain_program" retire "$NODE_NAME" 2>&3) || code=$?
  check_drain_result "$code" "$said"
}

uncordon_this_node() {
  poll 60 "$drain_program" restore "$NODE_NAME" ||
    die "the API server of $NODE_NAME did not make the node schedulable again"
}

# Waits until CoreDNS and kube-proxy run with the new version, if they exist. kubeadm upgrades
# CoreDNS and kube-proxy together with the last API server, but does not wait for their pods.
wait_for_addons() {
  [[ -z $(find_system_object deployment/coredns) ]] || poll "$coredns_seconds" is_coredns_rolled_out || die_addon_not_ready deployment/coredns
  [[ -z $(find_system_object daemonset/kube-proxy) ]] || await_proxies "$proxy_rollout_seconds" || die_addon_not_ready daemonset/kube-proxy
}

# Upgrades CoreDNS and kube-proxy if kubeadm has not upgraded them. kubeadm upgrades CoreDNS and
# kube-proxy together with the last control plane. If the last control plane was lost and joined
# again with the new version, kubeadm does not upgrade them.
upgrade_missed_addons() {
  local proxies servers=''
  poll 60 read_proxy_version || die "the API server of $NODE_NAME does not return the version of kube-proxy"
  [[ -n $proxies && $proxies != "v$KUBERNETES_VERSION" ]] || return 0
  poll 60 read_server_versions || die_as NOT_READY "the cluster does not see the API server of $NODE_NAME with version $KUBERNETES_VERSION; the next up looks again"
  ! grep -qv ":v$KUBERNETES_VERSION\$" <<<"$servers" || return 0
  say "$NODE_NAME: CoreDNS and kube-proxy get the versions of Kubernetes $KUBERNETES_VERSION"
  timeout "$((120 * factor))" kubeadm upgrade node phase addon all ${PATCHES:+--patches "$own_patches"} ||
    die "kubeadm did not upgrade CoreDNS and kube-proxy$(print_tool_error kubeadm)"
  wait_for_addons
}

# Sets `servers` to lines "NODE IMAGE" of all API servers. Fails until the API server of this node
# has the version. The list may also contain the pod of a former server of this node.
read_server_versions() {
  servers=$(kubectl_admin -n kube-system get pods -l component=kube-apiserver -o 'jsonpath={range .items[*]}{.spec.nodeName} {.spec.containers[0].image}{"\n"}{end}') &&
    grep -q "^$NODE_NAME .*:v$KUBERNETES_VERSION\$" <<<"$servers"
}

find_system_object() { kubectl_admin -n kube-system get "$1" --ignore-not-found -o name; }

die_addon_not_ready() {
  die_as NOT_READY "$1 of kube-system does not come up everywhere with the image of Kubernetes $KUBERNETES_VERSION; kubectl -n kube-system describe $1 says why, and the next up goes on"
}
