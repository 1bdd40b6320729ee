# shellcheck shell=bash disable=SC2154
# Drains nodes. Runs on a control plane. Put before the scripts that use it.

export KUBECONFIG=/etc/kubernetes/admin.conf

ask() { timeout "$((60 * factor))" kubectl "$@"; }

# move_pods NODE REPORT [OPTION...]: drains the node within 10 minutes, and writes kubectl's output
# to the file REPORT. Never deletes pods without a controller.
move_pods() {
  timeout 660 kubectl drain "$1" --ignore-daemonsets --delete-emptydir-data --timeout=600s "${@:3}" >"$2" 2>&1
}

# blockers REPORT: prints the pods that kubectl could not evict or did not delete, with the reasons.
blockers() {
  local why
  why=$({ grep -Eo '(error when (evicting|waiting for)|cannot delete) .*' "$1" | sed 's/ (will retry after [^)]*)//' || tail -n 3 "$1"; } | sort -u | head -n 5 | tr '\n' ' ')
  printf '%s' "${why% }"
}

# detached NODE: reports whether no volume is attached to the node.
detached() {
  local attached
  attached=$(ask get volumeattachments -o "jsonpath={.items[?(@.spec.nodeName==\"$1\")].metadata.name}") && [[ -z $attached ]]
}
