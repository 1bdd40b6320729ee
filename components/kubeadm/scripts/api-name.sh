# shellcheck shell=bash disable=SC2154
# The API has a name that each machine resolves by itself, so that no kubelet is bound to an address.
# Read by the scripts that come after this one. Values: API_NAME.

# resolve_api ADDRESS...: what the name is from now on. Without an address the name is one that the network resolves.
# No space before the mark: cloud-init drops it where it rewrites the file for another domain.
resolve_api() {
  local before
  before=$(grep -c '# stackadm$' /etc/hosts || :)
  # Not through a pipe: `changed` is wanted here.
  write /etc/hosts < <(hosts_with "$@")
  if [[ $changed == yes ]] && ((before > 0)); then renew_clients; fi
}

hosts_with() {
  local address
  sed '/# stackadm$/d' /etc/hosts
  for address in "$@"; do printf '%s %s # stackadm\n' "$address" "$API_NAME"; done
}

# Restarts the containers on the machine's network that reach the API by its name (apiByName in support/manifests/pod.ts): kubelet copies
# /etc/hosts into such a pod when its container starts.
renew_clients() {
  named_clients | xargs -r timeout "$((60 * factor))" crictl stop || say "$(hostname): what asks the API by its name was not restarted"
}

named_clients() {
  local pod pods
  crictl ps --quiet --name '^kube-proxy$'
  pods=$(crictl pods --quiet --state ready --label stackadm/api-by-name=yes)
  for pod in $pods; do crictl ps --quiet --pod "$pod"; done
}
