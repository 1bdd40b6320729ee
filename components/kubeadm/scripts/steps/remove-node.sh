# shellcheck shell=bash
# Runs on a control plane before the server of another machine is deleted. Drains the machine's
# node, waits until volumes are detached, and removes the machine's etcd member if it has one.
# Result: {"left": "drained" | "nothing"}.
# States: node Ready -> drained; no node, node of another server, or node not Ready (kubelet would
# never stop its pods) -> nothing.
# Before the drain, the script proves that another machine could join. Otherwise the cluster would
# lose a machine for good if kube-controller-manager does not work.
# If a node cannot be drained, the script makes it schedulable again, and the machine keeps its
# server. The script does not delete the Node object. After an interrupted run, the machine may
# remain in the cluster, and its kubelet would not create the Node object again. When the server is
# deleted, the cloud controller deletes the Node object. The join of a new server also deletes it
# (issue-join-credentials.sh).
# Values: see leaveVariables in kubeadm/node-scripts.ts.

readonly balanced=node.kubernetes.io/exclude-from-external-load-balancers

remove_node() {
  require NODE_NAME LEAVING_SERVER LEAVING_ADDRESS LEAVES
  local left=nothing now cordoned=''
  if [[ -e $KUBECONFIG ]]; then
    poll 60 api_answers || die_as KUBERNETES_UNREACHABLE "the API server does not answer, so $NODE_NAME cannot leave; repair the control plane and run up again"
    now=$(print_node_state) || die "the API server does not return the node $NODE_NAME; run up again"
    case $now in
      "openstack:///$LEAVING_SERVER True")
        prove_join
        left=drained
        drain_leaving_node
        ;;
    esac
    [[ " $LEAVES " != *" remove-etcd-member "* ]] || remove_etcd_member
  fi
  print_result left "$left"
}

api_answers() { [[ $(run_kubectl get --raw /readyz) == ok ]]; }

# Prints "PROVIDER-ID READY"; prints nothing if the node does not exist.
print_node_state() {
  run_kubectl get node "$NODE_NAME" --ignore-not-found \
    -o 'jsonpath={.spec.providerID} {.status.conditions[?(@.type=="Ready")].status}'
}

# Creates a token, waits until a machine could join with it, and deletes the token. The wait is long
# enough for another kube-controller-manager to take over the lease of one that has just ended.
prove_join() {
  local token id signed=yes
  token=$(create_token 2 "check before $NODE_NAME leaves") ||
    die_as NOT_READY "$NODE_NAME keeps its server, because kubeadm creates no token with which another machine could join: see $log. Repair the control plane and run up again"
  id=${token%%.*}
  poll 60 is_token_signed "$id" || signed=no
  # A token that cannot be deleted ends by itself.
  timeout "$((30 * factor))" kubeadm token delete "$id" || :
  [[ $signed == yes ]] ||
    die_as NOT_READY "$NODE_NAME keeps its server, because no other machine could join: kube-controller-manager signed no token within $((60 * factor)) s. See \`kubectl -n kube-system logs -l component=kube-controller-manager\`, repair it and run up again"
}

drain_leaving_node() {
  local report=$volatile/drain-$NODE_NAME
  cordoned=$(run_kubectl get node "$NODE_NAME" -o 'jsonpath={.spec.unschedulable}')
  say "$NODE_NAME: moving its pods to other machines"
  run_kubectl label node "$NODE_NAME" --overwrite "$balanced=true"
  if ! drain_node "$NODE_NAME" "$report"; then
    cat "$report"
    undo_drain
    die_as DRAIN_BLOCKED "$NODE_NAME could not be drained within 10 minutes and keeps its server; what blocks it: $(print_blockers "$report"). Delete these pods or change what protects them, then run up again"
  fi
  poll 120 are_volumes_detached "$NODE_NAME" || say "$NODE_NAME: volumes are still attached; its server is deleted nevertheless"
}

# Makes a drained node schedulable again if its machine cannot leave. A node that was cordoned
# before stays cordoned.
undo_drain() {
  [[ $left == drained ]] || return 0
  [[ $cordoned == true ]] || run_kubectl uncordon "$NODE_NAME" || :
  run_kubectl label node "$NODE_NAME" "$balanced-" || :
}

# Removes the machine's etcd member. A member without a server still counts for the majority: with
# three members, no other member could fail.
remove_etcd_member() {
  local refusal
  poll 60 try_remove_etcd_member || {
    undo_drain
    die "etcd $refusal and run up again"
  }
}

# Tries once to remove the etcd member; the caller repeats the attempt. etcd may refuse for some
# seconds under load, or after another member was removed. Sets `refusal` to the reason.
try_remove_etcd_member() {
  local id
  refusal="does not say who its members are, so $NODE_NAME cannot leave; bring a majority of the control planes up"
  id=$(etcdctl member list | awk -F', ' -v peer="https://$LEAVING_ADDRESS:2380" '$4 == peer { print $1 }') || return 1
  refusal="does not let $NODE_NAME go; bring the other control planes up"
  [[ -z $id ]] || etcdctl member remove "$id"
}

etcdctl() {
  local pki=/etc/kubernetes/pki/etcd
  run_kubectl -n kube-system exec "etcd-$(hostname)" -c etcd -- etcdctl --endpoints=https://127.0.0.1:2379 \
    --cacert="$pki/ca.crt" --cert="$pki/server.crt" --key="$pki/server.key" "$@"
}

# The name of the leaving machine is in the lock's name, because several machines may leave at the
# same time, and other scripts need not wait.
run_step "leave-$NODE_NAME" remove_node "leave-$NODE_NAME"
