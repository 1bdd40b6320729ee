# shellcheck shell=bash disable=SC2154
# Installed on control planes as /usr/local/sbin/stackadm-retire, after drain.sh. Keeps a node
# without pods while its kubelet is upgraded.
# retire NODE: drains the node. If it cannot, restores the node, prints what blocks it and exits
# with 4.
# restore NODE: restores the node's former state. Does nothing to a node that was not retired.
# An annotation on the node records its former state, for a run after an interrupted one.
set -euo pipefail
readonly verb=$1 node=$2 mark=stackadm.io/retired

poll() {
  local end=$((SECONDS + $1 * factor))
  shift
  until "$@"; do
    ((SECONDS < end)) || return 1
    sleep 0.3
  done
}

report_drain() { printf '%s\n' "$1" >&2; }

# Sets `was` to the state before the node was retired (empty if it is not), and `unschedulable`.
read_node_state() {
  local said
  said=$(run_kubectl get node "$node" -o 'jsonpath={.metadata.annotations.stackadm\.io/retired}={.spec.unschedulable}')
  was=${said%%=*} unschedulable=${said#*=}
}

# Sets `nodes`, one line per node: name, whether it is Ready, whether it is cordoned, its taints.
read_nodes() {
  nodes=$(run_kubectl get nodes -o 'jsonpath={range .items[*]}{.metadata.name} {.status.conditions[?(@.type=="Ready")].status} {.spec.unschedulable}- ;{range .spec.taints[*]}{.key}={.value}:{.effect};{end}{"\n"}{end}')
}

# Reports whether another node can take the pods: it is Ready, not cordoned, and has no taint that
# this node lacks.
has_other_node() {
  awk -v self="$node" '
    { taints[$1] = $4; open[$1] = $1 != self && $2 == "True" && $3 == "-" }
    END {
      for (name in open) if (open[name]) {
        strange = 0
        split(taints[name], each, ";")
        for (one in each)
          if (each[one] !~ /^$|:PreferNoSchedule$/ && !index(taints[self], ";" each[one] ";")) strange = 1
        if (!strange) found = 1
      }
      exit !found
    }' <<<"$nodes"
}

retire() {
  local was unschedulable report nodes options=()
  read_nodes
  # Without another node, a disruption budget would block the drain for ever: replacement pods could
  # run nowhere until this node is back.
  has_other_node || options=(--disable-eviction)
  read_node_state
  if [[ -z $was ]]; then
    was=schedulable
    [[ -z $unschedulable ]] || was=cordoned
    run_kubectl annotate node "$node" --overwrite "$mark=$was" >/dev/null
  fi
  report=$(mktemp /run/stackadm-retire.XXXXXX)
  if ! drain_node "$node" "$report" "${options[@]}"; then
    cat "$report" >&2
    restore
    print_blockers "$report"
    rm -f "$report"
    exit 4
  fi
  rm -f "$report"
  poll 120 are_volumes_detached "$node" || printf '%s: volumes are still attached\n' "$node" >&2
}

restore() {
  local was unschedulable
  read_node_state
  [[ -n $was ]] || return 0
  if [[ $was == schedulable && -n $unschedulable ]]; then run_kubectl uncordon "$node" >/dev/null; fi
  run_kubectl annotate node "$node" "$mark-" >/dev/null
}

case $verb in
  retire | restore) "$verb" ;;
  *) exit 64 ;;
esac
