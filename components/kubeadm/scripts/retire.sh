# shellcheck shell=bash disable=SC2154
# Lies on control planes as /usr/local/sbin/stackadm-retire, behind drain.sh. While a node's kubelet is changed, no pod is on it.
# retire NODE: takes its pods away. Ends with 4, and a line that says what blocks it, when it cannot: then the node is what it was.
# restore NODE: it is what it was before. Does nothing to a node that nobody retired.
# What it was stands on the node, so that whoever goes on after a run that was stopped knows.
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

# Sets `was`, what the node was when it was retired, and `unschedulable`; nothing where it is not.
look() {
  local said
  said=$(ask get node "$node" -o 'jsonpath={.metadata.annotations.stackadm\.io/retired}={.spec.unschedulable}')
  was=${said%%=*} unschedulable=${said#*=}
}

# Sets `nodes`, a line each: name, whether it is Ready, whether it is cordoned, its taints.
look_around() {
  nodes=$(ask get nodes -o 'jsonpath={range .items[*]}{.metadata.name} {.status.conditions[?(@.type=="Ready")].status} {.spec.unschedulable}- ;{range .spec.taints[*]}{.key}={.value}:{.effect};{end}{"\n"}{end}')
}

# Whether another node can have its pods: one that is Ready, not cordoned, and keeps pods away by no taint that this one has not.
has_refuge() {
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
  look_around
  # A disruption budget would hold it for ever: what succeeds its pods can run nowhere before it is back.
  has_refuge || options=(--disable-eviction)
  look
  if [[ -z $was ]]; then
    was=schedulable
    [[ -z $unschedulable ]] || was=cordoned
    ask annotate node "$node" --overwrite "$mark=$was" >/dev/null
  fi
  report=$(mktemp /run/stackadm-retire.XXXXXX)
  if ! move_pods "$node" "$report" "${options[@]}"; then
    cat "$report" >&2
    restore
    blockers "$report"
    rm -f "$report"
    exit 4
  fi
  rm -f "$report"
  poll 120 detached "$node" || printf '%s: volumes are still attached\n' "$node" >&2
}

restore() {
  local was unschedulable
  look
  [[ -n $was ]] || return 0
  if [[ $was == schedulable && -n $unschedulable ]]; then ask uncordon "$node" >/dev/null; fi
  ask annotate node "$node" "$mark-" >/dev/null
}

case $verb in
  retire | restore) "$verb" ;;
  *) exit 64 ;;
esac
