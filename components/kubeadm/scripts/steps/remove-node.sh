# shellcheck shell=bash
# Runs on a control plane before the server of another machine is deleted. Removes the machine's
# node from load balancers, drains the node, waits until volumes are detached and load balancers are
# updated, and removes the machine's etcd member if it has one.
# Result: {"left": "drained" | "nothing"}.
# States: node Ready -> drained; no node, node of another server, or node not Ready (kubelet would
# never stop its pods) -> nothing.
# Before the drain, the script proves that another machine could join. Otherwise the cluster would
# lose a machine for good if kube-controller-manager does not work.
# If a node cannot be drained, the script makes it schedulable again, and the machine keeps its
# server. The script does not delete the Node object. After an interrupted run, the machine may
# remain in the cluster, and its kubelet would not create the Node object again. When the server is
# deleted, the cloud controller deletes the Node object. The join of a new server also deletes it
# (issue-join-credentials.sh). Without a cloud controller, the script deletes the Node object at its
# end: a node that no machine has would block the next upgrade.
# Values: see leaveVariables in kubeadm/node-scripts.ts.

# Values of the label `excluded` that this script sets, with the former state of the node. An
# interrupted run leaves them for the next run.
readonly from_schedulable=leaving from_cordoned=leaving-cordoned

remove_node() {
  require NODE_NAME LEAVING_SERVER LEAVING_ADDRESS LEAVES
  local left=nothing now former='' cordoned=no joins='' changed_node=no
  if [[ -e $KUBECONFIG ]]; then
    poll 60 api_answers || die_as KUBERNETES_UNREACHABLE "the API server does not answer, so $NODE_NAME cannot leave; repair the control plane and run up again"
    now=$(print_node_state) || die "the API server does not return the node $NODE_NAME; run up again"
    case $now in
      "openstack:///$LEAVING_SERVER True")
        read_former_state
        prove_join
        left=drained
        drain_leaving_node
        ;;
    esac
    [[ " $LEAVES " != *" remove-etcd-member "* ]] || remove_etcd_member
    [[ -z $DELETES_NODE || -z $now ]] || delete_node
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
# enough for another kube-controller-manager to take over the lease of one that has just ended. If
# no machine could join, returns a node that an interrupted run has drained to service.
prove_join() {
  local token id signed=yes
  token=$(create_token 2 "check before $NODE_NAME leaves") || {
    undo_drain
    die_as NOT_READY "$NODE_NAME keeps its server, because kubeadm creates no token with which another machine could join: see $log. Repair the control plane and run up again"
  }
  id=${token%%.*}
  poll 60 is_token_signed "$id" || signed=no
  # A token that cannot be deleted ends by itself.
  timeout "$((30 * factor))" kubeadm token delete "$id" || :
  [[ $signed == no ]] || return 0
  undo_drain
  die_as NOT_READY "$NODE_NAME keeps its server, because no other machine could join: kube-controller-manager signed no token within $((60 * factor)) s. See \`kubectl -n kube-system logs -l component=kube-controller-manager\`, repair it and run up again"
}

drain_leaving_node() {
  local report=$volatile/drain-$NODE_NAME updates began=$SECONDS late=''
  updates=$(print_load_balancer_updates) || updates=''
  exclude_node
  say "$NODE_NAME: moving its pods to other machines"
  if ! drain_node "$NODE_NAME" "$report"; then
    cat "$report"
    undo_drain
    die_as DRAIN_BLOCKED "$NODE_NAME was not drained after $((SECONDS - began)) s and keeps its server; what blocks it: $(print_blockers "$report"). Delete these pods or change what protects them, then run up again"
  fi
  poll 120 are_volumes_detached "$NODE_NAME" || say "$NODE_NAME: volumes are still attached; its server is deleted nevertheless"
  [[ -z $former ]] || await_load_balancers "$updates" ||
    say "$NODE_NAME: the load balancers of these Services may still send connections to it: ${late//$'\n'/, }"
}

# Sets `former` to the value of the label for the node's former state, and `cordoned` to yes if the
# user has cordoned the node. `former` remains empty if the user has set the label. Sets
# `changed_node` to yes if an interrupted run has changed the node, and `joins` to yes if the node
# still has the label of its join.
read_former_state() {
  local found
  found=$(run_kubectl get node "$NODE_NAME" -o "go-template={{.spec.unschedulable}}{{range \$name, \$value := .metadata.labels}}{{if eq \$name \"$excluded\"}} label={{\$value}}{{end}}{{end}}")
  [[ $found != true* ]] || cordoned=yes
  if [[ $found == *" label=$joining" ]]; then found='' joins=yes; fi
  case $found in
    *" label=$from_schedulable") former=$from_schedulable cordoned=no changed_node=yes ;;
    *" label=$from_cordoned") former=$from_cordoned changed_node=yes ;;
    *" label="*) ;;
    *)
      former=$from_schedulable
      [[ $cordoned == no ]] || former=$from_cordoned
      ;;
  esac
}

# Removes the node from the load balancers of Services, unless the user has removed it. Replaces the
# label of the join, because a unit would delete that label while the node is drained.
exclude_node() {
  if [[ -n $former && $changed_node == no ]]; then
    run_kubectl label node "$NODE_NAME" "$excluded=$former" ${joins:+--overwrite}
  fi
  changed_node=yes
}

# Restores the former state of a node that was drained if its machine cannot leave: whether the node
# is cordoned, and the label `excluded`.
undo_drain() {
  [[ $changed_node == yes ]] || return 0
  [[ $cordoned == yes ]] || run_kubectl uncordon "$NODE_NAME" || :
  [[ -z $former ]] || run_kubectl label node "$NODE_NAME" "$excluded-" || :
}

# Deletes the Node object if it belongs to the leaving server.
delete_node() {
  [[ ${now% *} == "openstack:///$LEAVING_SERVER" ]] || return 0
  run_kubectl delete node "$NODE_NAME" --ignore-not-found ||
    say "$NODE_NAME: its Node object was not deleted; kubectl delete node $NODE_NAME deletes it"
}

report_drain() { say "$1"; }

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
