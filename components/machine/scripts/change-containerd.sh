# shellcheck shell=bash disable=SC2154
# Installs the builds of containerd that prepare.sh has downloaded (prepare/fetch-containerd.sh), at
# the machine's turn: in an upgrade of Kubernetes, or after the generation has changed. Library of
# join-node.sh, control-plane.sh and etcd-member.sh, after change-version.sh. Each of them defines
# `drain_this_node` and `uncordon_this_node`.
# Values: NODE_NAME; CONTAINERD_GENERATION, empty if containerd changes only in upgrades.

# converge_containerd COMMAND...: installs the builds once for a generation. The machine is back in
# service when the command succeeds. Does nothing on a machine that joined with this generation.
converge_containerd() {
  if is_recorded containerd "$CONTAINERD_GENERATION"; then return 0; fi
  if [[ -d $containerd_builds/next ]] || is_recorded containerd 'not finished'; then
    say "$NODE_NAME: its containerd changes"
    record_unfinished containerd
    drain_this_node
    install_containerd_builds
    poll "$start_seconds" "$@" ||
      die_as NOT_READY "$NODE_NAME is not Ready with its new containerd; journalctl -u containerd -u kubelet there says why, and the next up continues there"
    uncordon_this_node
  fi
  record_applied containerd "$CONTAINERD_GENERATION"
}

# Installs the builds, if there are any. Running containers continue. If containerd does not run
# with the new builds, installs the former builds, returns the machine to service, and dies.
install_containerd_builds() {
  local said='' failure version
  [[ -d $containerd_builds/next ]] || return 0
  if install_builds next; then
    rm -rf "$containerd_builds"
    return 0
  fi
  failure=$said
  install_builds former || :
  wait_until_restored crictl version ||
    die_as NOT_READY "containerd of $NODE_NAME runs neither with its new nor with its former build$failure; repair it there (journalctl -u containerd) and run up again"
  version=$(containerd --version | awk '{ print $3 }')
  uncordon_this_node
  die "the new containerd does not run on $NODE_NAME$failure; the machine is in service again with containerd $version; correct the cause and run up again"
}

# install_builds next|former: installs the builds of this directory, and waits until containerd is
# healthy. Sets `said` to ": " and the error.
install_builds() {
  local files=("$containerd_builds/$1"/*.deb)
  [[ -e ${files[0]} ]] || return 1
  if ! apt_install "${files[@]}"; then
    said=$(print_tool_error apt)
    return 1
  fi
  apt_hold containerd.io containerd
  systemctl daemon-reload
  systemctl restart containerd || :
  wait_until_healthy crictl version && return 0
  said=": $(journalctl --unit containerd --lines 50 --output cat --no-pager | print_last_error)"
  return 1
}
