# shellcheck shell=bash disable=SC2154
# How a node's pods go to other machines, whoever asks for it. Runs on a control plane. Put before the scripts that drain.

export KUBECONFIG=/etc/kubernetes/admin.conf

ask() { timeout "$((60 * factor))" kubectl "$@"; }

# move_pods NODE REPORT [OPTION...]: within 10 minutes, with what kubectl says in the file. Pods without a controller are never deleted.
move_pods() {
  timeout 660 kubectl drain "$1" --ignore-daemonsets --delete-emptydir-data --timeout=600s "${@:3}" >"$2" 2>&1
}

# blockers REPORT: the pods that kubectl could not evict or would not delete, once each with the reason.
blockers() {
  local why
  why=$({ grep -Eo '(error when (evicting|waiting for)|cannot delete) .*' "$1" | sed 's/ (will retry after [^)]*)//' || tail -n 3 "$1"; } | sort -u | head -n 5 | tr '\n' ' ')
  printf '%s' "${why% }"
}

# detached NODE: whether it holds no volume any more.
detached() {
  local attached
  attached=$(ask get volumeattachments -o "jsonpath={.items[?(@.spec.nodeName==\"$1\")].metadata.name}") && [[ -z $attached ]]
}
