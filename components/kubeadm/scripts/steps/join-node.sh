# shellcheck shell=bash
# Makes this machine a node of the cluster, or checks that it is a node.
# Result: {"node": NAME, "kubernetes": VERSION}. In a cluster with a pod network, the script prints
# the result when the node is Ready.
# States: joined this cluster -> no join; kubeadm running -> wait for it; kubeadm failed, or joined
# another cluster -> reset the machine and join; nothing -> kubeadm join.
# Values: see joinVariables in kubeadm/node-scripts.ts.

join_node() {
  require NODE_NAME KUBEADM_JOIN CA_CERT_HASH PEERS JOIN_PRIVATE_KEY JOIN_CERTIFICATE API_NAME KUBELET KUBERNETES_VERSION
  local peer_address='' authority='' addresses
  write_ssh_files
  mapfile -t addresses < <(printf '%s' "$API_ADDRESSES")
  write_api_hosts "${addresses[@]}"
  restore_kubelet
  if ! is_joined; then join_cluster; fi
  converge_version
  converge_containerd is_node_upgraded
  poll 120 systemctl is-active --quiet kubelet || die "kubelet of $NODE_NAME does not run"
  converge_kubelet
  close_kubelet_files
  await_certificate
  await_ready
  allow_traffic
  run_user_script afterKubeadm "$AFTER_KUBEADM"
  print_result node "$NODE_NAME" kubernetes "$KUBERNETES_VERSION"
}

# Succeeds if this machine has joined this cluster. A recreated cluster has another CA.
is_joined() {
  [[ -e $state/join.done ]] && [[ $(authority_of /etc/kubernetes/pki/ca.crt) == "$CA_CERT_HASH" ]]
}

join_cluster() {
  local started=no
  if ! unit_running join; then
    start_join
    started=yes
  fi
  wait_unit join 1510
  rm -f "$volatile/kubeadm.yaml"
  [[ -e $state/join.done ]] || die "kubeadm join failed on $NODE_NAME$(print_kubeadm_error)"
  # Records the kubelet configuration that kubeadm join has applied. If another run started kubeadm
  # join, the configuration may have changed since.
  [[ $started == no ]] || record_applied kubelet "$KUBELET_CONFIGURATION"
}

converge_kubelet() {
  if is_recorded kubelet "$KUBELET_CONFIGURATION"; then return 0; fi
  record_unfinished kubelet
  apply_kubelet_configuration :
  record_applied kubelet "$KUBELET_CONFIGURATION"
}

# Refuses an upgrade until the control planes have the version. A complete run ensures this order,
# but a run for selected resources does not.
check_upgrade_allowed() {
  cluster_has_version ||
    die "the control planes are not of version $KUBERNETES_VERSION yet, and no kubelet may be newer; run up for the whole cluster"
}

upgrade_with_kubeadm() {
  run_kubeadm_upgrade node || die "kubeadm upgrade node failed on $NODE_NAME$(print_kubeadm_error)"
}

# Asks a control plane to drain the node, because a worker's credentials do not allow a drain.
drain_this_node() {
  local said code=0
  # Shows the progress of the drain to the user.
  said=$(ask_peers 900 retire 2>&3) || code=$?
  check_drain_result "$code" "$said"
}

uncordon_this_node() { poll 120 ask_peers 60 restore || die "no control plane makes $NODE_NAME schedulable again; the next up tries again"; }

wait_for_addons() { :; }

must_upgrade_cluster() { false; }

upgrade_missed_addons() { :; }

# Adds the node to the load balancers of Services if a control plane has kept it out, after it has a
# route to the pods of each other node. In a pool whose machines are replaced one after another, the
# node takes traffic before the next machine leaves. The time limit serves clusters in which another
# node has no pod network.
allow_traffic() {
  local addresses
  grep -qx kept-out "$join_directory/network" || return 0
  # The login shell of the control plane may print lines before the answer.
  addresses=$(awk 'found; $0 == "kept-out" { found = 1 }' "$join_directory/network")
  [[ -z $POD_ROUTES ]] || poll 60 has_pod_routes ||
    say "$NODE_NAME has no route to the pods of all other nodes after $((60 * factor)) s, and takes traffic nevertheless"
  poll 180 ask_peers 360 serve ||
    die_as KUBERNETES_UNREACHABLE "no control plane adds $NODE_NAME to the load balancers of Services; bring the API server up and run up again"
}

# Succeeds if this machine has a route to each address in `addresses`. Without a route of the pod
# network, the route of stackadm-guard makes the address unreachable.
has_pod_routes() {
  local address
  while read -r address; do
    [[ -z $address ]] || ip route get "$address" || return 1
  done <<<"$addresses"
}

start_join() {
  if has_kubeadm_files; then
    say "$NODE_NAME: starting again after an interrupted kubeadm join"
    rm -f "$state/join.done"
    timeout "$((120 * factor))" kubeadm reset -f
  fi
  poll 300 ask_for_token || die "no control plane issues a join token for $NODE_NAME; start a control plane and run up again"
  [[ $authority == "$CA_CERT_HASH" ]] ||
    die "the control plane at $peer_address belongs to another cluster than the one that this stack made"
  fill_placeholders "$KUBEADM_JOIN" | write "$volatile/kubeadm.yaml" 0600
  # Records the configuration as unfinished until this run has seen the join finish, because a later
  # run may have another configuration.
  record_unfinished kubelet
  rm -f "$state"/kept-{version,upgraded}
  say "$NODE_NAME: kubeadm join"
  start_unit join 1500 /bin/sh -c "kubeadm join --config $volatile/kubeadm.yaml && touch $state/join.done"
}

run_step join join_node
