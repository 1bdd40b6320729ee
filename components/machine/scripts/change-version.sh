# shellcheck shell=bash
# Functions that upgrade Kubernetes on a machine at the machine's turn in a rolling upgrade. Library
# of join-node.sh, control-plane.sh and etcd-member.sh, after apt-get.sh and kubernetes-packages.sh.
# Values: NODE_NAME; those of kubernetes-packages.sh; PAUSE, a pause image that replaces kubeadm's
# pause image.

# get_packages NAME...: installs packages that prepare.sh has downloaded. Does nothing if the first
# package already has the wanted version, for example because the user has installed the package.
get_packages() {
  local pinned=()
  if has_wanted_version "$1"; then return 0; fi
  command -v apt-get ||
    die "$NODE_NAME has no apt, by which it could get Kubernetes $KUBERNETES_VERSION; put kubeadm, kubelet and kubectl of that version there, restart nothing, and run up again"
  pin_kubernetes "$@"
  apt_install "${pinned[@]}" || die "$* of Kubernetes $KUBERNETES_VERSION cannot be installed on $NODE_NAME$(print_apt_error kubernetes.packages.url)"
  apt_hold "${kubernetes_packages[@]}"
  has_wanted_version "$1" || die "$1 of $NODE_NAME is not of version $KUBERNETES_VERSION, although its package is installed"
}

# upgrade_kubelet_package COMMAND...: installs the new containerd and the new kubelet, and waits
# until the command succeeds. containerd comes first, because the new kubelet may need it.
upgrade_kubelet_package() {
  local said
  install_containerd_builds
  get_packages kubelet kubectl cri-tools kubernetes-cni
  update_pause_image
  systemctl daemon-reload
  systemctl restart kubelet || :
  if wait_until_healthy is_kubelet_healthy && poll "$start_seconds" "$@"; then return 0; fi
  said=$(journalctl --unit kubelet --lines 50 --output cat --no-pager | print_last_error)
  die_as NOT_READY "$NODE_NAME is not Ready with kubelet $KUBERNETES_VERSION; the next up continues there${said:+; kubelet said: $said}"
}

# Sets the pause image of new pods. Running pods keep their pause image.
update_pause_image() {
  local image=$PAUSE
  [[ -n $image ]] || image=$(kubeadm_images | grep /pause:) || die "kubeadm names no pause image$(print_tool_error kubeadm)"
  if [[ $(print_current_pause) == "$image" ]]; then return 0; fi
  sed -i "s|^  sandbox = \".*\"\$|  sandbox = \"$image\"|" "$containerd_file"
  systemctl restart containerd
  poll 60 crictl version || die "containerd on $NODE_NAME does not answer within $((60 * factor)) s; journalctl -u containerd there says why"
}
