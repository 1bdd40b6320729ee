# shellcheck shell=bash
# Writes the API's name into /etc/hosts, so that no kubelet depends on an address of the API.
# Library of join-node.sh and control-plane.sh. Values: API_NAME.

# write_api_hosts [ADDRESS...]: writes a line with the API's name for each address. Without
# addresses, removes the lines, because DNS resolves the name. The patterns match `# stackadm`
# without the preceding space, because cloud-init removes this space when it rewrites the file for
# another domain.
write_api_hosts() {
  local before
  before=$(grep -c '# stackadm$' /etc/hosts || :)
  # Uses no pipe, because a subshell would lose `changed`.
  write /etc/hosts < <(print_hosts "$@")
  if [[ $changed == yes ]] && ((before > 0)); then restart_api_clients; fi
}

print_hosts() {
  local address
  sed '/# stackadm$/d' /etc/hosts
  for address in "$@"; do printf '%s %s # stackadm\n' "$address" "$API_NAME"; done
}

# Restarts containers on the host network that connect to the API by its name (apiByName in
# kubernetes-objects/pod-settings.ts). kubelet copies /etc/hosts into a pod only when a container
# starts.
restart_api_clients() {
  list_api_clients | xargs -r timeout "$((60 * factor))" crictl stop || say "$(hostname): pods that connect to the API by its name were not restarted"
}

list_api_clients() {
  local pod pods
  crictl ps --quiet --name '^kube-proxy$'
  pods=$(crictl pods --quiet --state ready --label stackadm/api-by-name=yes)
  for pod in $pods; do crictl ps --quiet --pod "$pod"; done
}
