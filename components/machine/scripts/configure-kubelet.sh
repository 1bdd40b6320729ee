# shellcheck shell=bash
# Applies the cluster's kubelet configuration to this machine, as kubeadm writes it. Restores the
# former configuration if kubelet does not start with the new one. Library of join-node.sh,
# control-plane.sh and etcd-member.sh.
# Values: NODE_NAME, KUBELET_CONFIGURATION.

readonly kubelet_file=/var/lib/kubelet/config.yaml former_kubelet=$state/kubelet-former.yaml

# Restores the former configuration after an interrupted run. With the new configuration, kubelet on
# the only control plane might not start any more.
restore_kubelet() {
  [[ -e $former_kubelet ]] || return 0
  restore_kubelet_configuration
}

# apply_kubelet_configuration [COMMAND...]: applies the configuration. On failure, restores the
# former configuration, runs the command and dies.
apply_kubelet_configuration() {
  local said
  write "$former_kubelet" 0600 <"$kubelet_file"
  if ! kubeadm upgrade node phase kubelet-config; then
    said=$(print_tool_error kubeadm)
    restore_kubelet_configuration
    "$@"
    die "kubeadm did not write the configuration of kubelet on $NODE_NAME$said"
  fi
  if ! same_file "$former_kubelet" "$kubelet_file"; then
    say "$NODE_NAME: kubelet restarts with its new configuration"
    systemctl restart kubelet || :
    if ! wait_until_healthy is_kubelet_healthy; then
      said=$(journalctl --unit kubelet --lines 50 --output cat --no-pager | print_last_error)
      restore_kubelet_configuration
      "$@"
      die_kubelet_restored "$said"
    fi
  fi
  rm -f "$former_kubelet"
}

# die_kubelet_restored REASON: dies with the message that the former configuration is restored.
die_kubelet_restored() {
  die_as CONFIGURATION_UNDONE "kubernetes.kubelet: kubelet of $NODE_NAME does not come up with it and has its former configuration again${1:+; it said: $1}"
}

is_kubelet_healthy() {
  systemctl is-active --quiet kubelet &&
    [[ $(curl --silent --max-time "$((3 * factor))" http://127.0.0.1:10248/healthz) == ok ]]
}

restore_kubelet_configuration() {
  write "$kubelet_file" 0600 <"$former_kubelet"
  rm -f "$former_kubelet"
  systemctl restart kubelet || :
  wait_until_restored is_kubelet_healthy || say "$NODE_NAME: kubelet does not come up with its former configuration either"
}

# Succeeds if kubelet requests its serving certificate from the cluster. Otherwise kubelet signs a
# serving certificate for itself.
requests_serving_certificate() { grep -qx 'serverTLSBootstrap: true' <<<"$KUBELET_CONFIGURATION"; }

# Waits for kubelet's serving certificate, if kubelet requests one. Without this certificate, no API
# server can connect to containers on this machine.
await_certificate() {
  requests_serving_certificate || return 0
  poll 120 test -e /var/lib/kubelet/pki/kubelet-server-current.pem ||
    die "kubelet of $NODE_NAME got no serving certificate; journalctl -u stackadm-serving on a control plane says why, and kubectl get csr shows the request"
}
