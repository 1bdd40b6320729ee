# shellcheck shell=bash disable=SC2154
# Functions of restore.sh that use the API server of the machine.

readonly admin=/etc/kubernetes/admin.conf role=node-role.kubernetes.io/control-plane

kubectl_here() {
  timeout "$((20 * factor))" kubectl --kubeconfig "$admin" --server "https://$(flag kube-apiserver advertise-address):6443" "$@"
}

api_answers() { [[ $(kubectl_here get --raw /readyz 2>/dev/null) == ok ]]; }

# node NAME FIELD: prints a field of the node. Prints nothing if the node does not exist.
node() { kubectl_here get node "$1" --ignore-not-found -o "jsonpath={$2}"; }

# Registers this machine's node if the node does not exist or has the provider ID of the former
# server. Deletes the old node first, because Kubernetes does not allow a change of the provider ID.
# Sets the labels and the taint that kubeadm sets, but no taint on a schedulable control plane.
renew_node() {
  local name own known tainted=''
  name=$(hostname)
  own=$(sed -n 's#.*--provider-id=\(openstack:///[0-9a-f-]*\).*#\1#p' "$flags")
  known=$(node "$name" .spec.providerID) || return 1
  [[ -n $own && $known != "$own" ]] || return 0
  if [[ -n $known ]]; then
    tainted=$(node "$name" '.spec.taints[*].key') || return 1
    forget_node "$name" || return 1
  elif [[ ! -e $state/schedulable ]]; then
    tainted=$role
  fi
  systemctl restart kubelet
  poll 120 is_node "$name" "$own" || return 1
  if [[ $tainted == *"$role"* ]]; then
    poll 60 kubectl_here taint node "$name" --overwrite "$role=:NoSchedule" >&2 || return 1
    poll 60 kubectl_here label node "$name" --overwrite node.kubernetes.io/exclude-from-external-load-balancers= >&2 || return 1
  fi
  poll 60 kubectl_here label node "$name" --overwrite "$role=" >&2
}

# Records in `schedulable` whether the restored node accepts users' pods. `apply_schedulable`
# (components/kubeadm/scripts/steps/control-plane.sh) restores the taint only on machines with this
# record.
know_schedulable() {
  local taints
  taints=$(node "$(hostname)" '.spec.taints[*].key') || return 1
  if [[ $taints == *"$role"* ]]; then rm -f "$state/schedulable"; else touch "$state/schedulable"; fi
}

is_node() { [[ $(node "$1" .spec.providerID) == "$2" ]]; }

forget_node() { poll 60 kubectl_here delete node "$1" --ignore-not-found --wait=false >&2; }

nodes() {
  poll 60 kubectl_here get nodes -o 'jsonpath={range .items[*]}{.metadata.name} {.spec.providerID}{"\n"}{end}' ||
    die "the API server of $(hostname) does not list the nodes"
}
