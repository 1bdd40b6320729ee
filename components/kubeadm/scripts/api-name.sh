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
  if [[ $changed == yes ]] && ((before > 0)); then renew_proxy; fi
}

hosts_with() {
  local address
  sed '/# stackadm$/d' /etc/hosts
  for address in "$@"; do printf '%s %s # stackadm\n' "$address" "$API_NAME"; done
}

# kubelet copies the file into a pod on the host's network when its container starts.
renew_proxy() {
  crictl ps --quiet --name '^kube-proxy$' | xargs -r timeout 60 crictl stop || say "$(hostname): kube-proxy was not restarted"
}
