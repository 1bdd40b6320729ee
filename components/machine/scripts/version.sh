# shellcheck shell=bash disable=SC2154
# What gives a machine another version of Kubernetes in its turn is made of. Put after apt.sh and packages.sh; read by the scripts that
# come after this one. Values: NODE_NAME, those of packages.sh; PAUSE, an image that stands in for kubeadm's.

# get_packages NAME...: fetched when the machine was prepared. What an owner brought along by himself is taken as it is.
get_packages() {
  local pinned=()
  if is_now "$1"; then return 0; fi
  command -v apt-get ||
    die "$NODE_NAME has no apt, by which it could get Kubernetes $KUBERNETES_VERSION; put kubeadm, kubelet and kubectl of that version there, restart nothing, and run up again"
  pin_kubernetes "$@"
  apt_install "${pinned[@]}" || die "$* of Kubernetes $KUBERNETES_VERSION cannot be installed on $NODE_NAME$(apt_fault kubernetes.packages.url)"
  apt_hold "${kubernetes_packages[@]}"
  is_now "$1" || die "$1 of $NODE_NAME is not of version $KUBERNETES_VERSION, although its package is installed"
}

# renew_kubelet_package COMMAND...: with its new kubelet, the machine comes to where the command succeeds.
renew_kubelet_package() {
  local said
  get_packages kubelet kubectl cri-tools kubernetes-cni
  renew_pause
  systemctl daemon-reload
  systemctl restart kubelet || :
  if comes_up kubelet_serves && poll "$well_within" "$@"; then return 0; fi
  said=$(journalctl --unit kubelet --lines 50 --output cat --no-pager | complaint)
  die_as NOT_READY "$NODE_NAME is not well with kubelet $KUBERNETES_VERSION; the next up goes on there${said:+; kubelet said: $said}"
}

# containerd holds what comes from now on by another image than what is there.
renew_pause() {
  local image=$PAUSE
  [[ -n $image ]] || image=$(kubeadm_images | grep /pause:) || die "kubeadm names no pause image$(because kubeadm)"
  if [[ $(present_pause) == "$image" ]]; then return 0; fi
  sed -i "s|^  sandbox = \".*\"\$|  sandbox = \"$image\"|" "$containerd_file"
  systemctl restart containerd
  poll 60 crictl version || die "containerd of $NODE_NAME does not answer"
}
