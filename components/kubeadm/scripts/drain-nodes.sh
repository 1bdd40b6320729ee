# shellcheck shell=bash disable=SC2154
# Drains nodes. Runs on a control plane. Put before the scripts that use it. They define
# `report_drain TEXT`, which reports the progress of a drain.

export KUBECONFIG=/etc/kubernetes/admin.conf

run_kubectl() { timeout "$((60 * factor))" kubectl "$@"; }

# drain_node NODE REPORT [OPTION...]: drains the node within 10 minutes times `factor`, and writes
# kubectl's output to the file REPORT. Every 30 s, reports what blocks the drain. Never deletes pods
# without a controller.
drain_node() {
  local child code
  timeout "$((660 * factor))" kubectl drain "$1" --ignore-daemonsets --delete-emptydir-data --timeout="$((600 * factor))s" "${@:3}" >"$2" 2>&1 &
  child=$!
  # Only the code 124 means that 30 s have passed.
  while
    code=0
    timeout 30 tail --pid "$child" --sleep-interval 0.3 --follow /dev/null || code=$?
    ((code == 124))
  do
    report_drain "$1: the drain waits: $(print_blockers "$2")"
  done
  wait "$child"
}

# print_blockers REPORT: prints the pods that kubectl could not evict or did not delete, with the
# reasons.
print_blockers() {
  local why
  why=$({ grep -Eo '(error when (evicting|waiting for)|cannot delete) .*' "$1" | sed 's/ (will retry after [^)]*)//' || tail -n 3 "$1"; } | sort -u | head -n 5 | tr '\n' ' ')
  printf '%s' "${why% }"
}

# are_volumes_detached NODE: reports whether no volume is attached to the node.
are_volumes_detached() {
  local attached
  attached=$(run_kubectl get volumeattachments -o "jsonpath={.items[?(@.spec.nodeName==\"$1\")].metadata.name}") && [[ -z $attached ]]
}
