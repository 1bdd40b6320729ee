# shellcheck shell=bash disable=SC2154
# Makes this machine a worker of the cluster, or finds that it is one. Result: {"node": NAME}.
# The token is minted by the control plane for this join, over SSH with a key that can do nothing else, and revoked after it.
# States: done -> say so; running -> wait for it; half done -> reset and again; nothing -> kubeadm join.
# Values: see joinValues in kubeadm/worker-pool.ts.

join() {
  require NODE_NAME SERVER_ID KUBEADM_CONFIG CONTROL_PLANE_ADDRESS CONTROL_PLANE_HOST_KEY JOIN_PRIVATE_KEY KUBELET
  [[ -e $state/join.done ]] || join_cluster
  [[ -e $state/join.done ]] || die "kubeadm join did not succeed"
  poll 120 systemctl is-active --quiet kubelet || die "kubelet of $NODE_NAME does not run"
  printf '{"node": "%s"}\n' "$NODE_NAME" >&4
}

join_cluster() {
  if ! unit_running join; then start_join; fi
  wait_unit join 310
}

start_join() {
  local token
  if half_done; then
    say "$NODE_NAME: starting again after an interrupted kubeadm join"
    timeout 120 kubeadm reset -f
  fi
  trap 'failed; rm -rf "$volatile/join"' EXIT
  mkdir -p "$volatile/join"
  printf '%s' "$JOIN_PRIVATE_KEY" | write "$volatile/join/key" 0600
  printf '%s %s\n' "$CONTROL_PLANE_ADDRESS" "$CONTROL_PLANE_HOST_KEY" | write "$volatile/join/known_hosts"
  poll 120 mint || die "the control plane gives no join token to $NODE_NAME"
  token=$(<"$volatile/join/token")
  printf '%s' "${KUBEADM_CONFIG//@TOKEN@/$token}" | write "$volatile/join/kubeadm.yaml" 0600
  say "$NODE_NAME: kubeadm join"
  start_unit join 300 /bin/sh -c "kubeadm join --config $volatile/join/kubeadm.yaml && touch $state/join.done"
  wait_unit join 310
  ask_control_plane revoke "${token%%.*}" || say "$NODE_NAME: the token was not revoked; it ends by itself in 10 minutes"
}

mint() { ask_control_plane mint "$NODE_NAME" "$SERVER_ID" >"$volatile/join/token"; }

ask_control_plane() {
  timeout 60 ssh -F none -i "$volatile/join/key" -o IdentitiesOnly=yes -o BatchMode=yes -o ConnectTimeout=5 \
    -o UserKnownHostsFile="$volatile/join/known_hosts" -o GlobalKnownHostsFile=/dev/null \
    -o StrictHostKeyChecking=yes -o HostKeyAlgorithms=ssh-ed25519 \
    "stackadm-join@$CONTROL_PLANE_ADDRESS" "$@"
}

run_step join join
