# shellcheck shell=bash
# Upgrades an etcd machine to a Kubernetes version: first etcd's image, then kubelet. Library of
# etcd-member.sh, after change-version.sh.
# Values: those of change-version.sh; KUBEADM_ETCD, documents from which kubeadm derives the image.

readonly former_etcd=$state/former-etcd.yaml

converge_version() {
  local former
  if is_recorded version "$KUBERNETES_VERSION"; then return 0; fi
  # A missing record means that the machine has just joined with this version, or that a release
  # without upgrades created the machine.
  if [[ -e $state/kept-version ]] || ! has_wanted_version kubelet; then
    former=$(version_of kubelet)
    refuse_downgrade
    drain_this_node
    say "$NODE_NAME: Kubernetes $KUBERNETES_VERSION instead of ${former#v}"
    record_unfinished version
    get_packages kubeadm cri-tools
    upgrade_etcd_image
    upgrade_kubelet_package etcd_answers
  fi
  record_applied version "$KUBERNETES_VERSION"
}

# An etcd machine is no node, so it has no pods to drain. It changes only if all members answer.
drain_this_node() {
  poll 120 etcd_answers --cluster ||
    die_as NOT_READY "$NODE_NAME is not upgraded while not all members of etcd answer; bring them back and run up again"
}

uncordon_this_node() { :; }

# Replaces only the image in the manifest. `kubeadm init phase etcd local` would also change the
# list of members.
upgrade_etcd_image() {
  local image before said document=$volatile/etcd.yaml
  write "$document" 0644 "${KUBEADM_ETCD//@STATE@/existing}"
  image=$(kubeadm config images list --config "$document" | grep /etcd:) ||
    die "kubeadm names no image of etcd$(print_tool_error kubeadm)"
  if grep -qxF "    image: $image" "$manifest"; then return 0; fi
  # Pulls the image first: otherwise kubelet would stop etcd and then wait for the image.
  pull_image 600 "$image" || die "$NODE_NAME cannot pull $image$(print_pull_error "$image")"
  before=$(list_etcd_containers)
  write "$former_etcd" 0600 <"$manifest"
  say "$NODE_NAME: etcd restarts with the image $image"
  # Writes the new manifest in another directory first, because kubelet runs every file in the
  # directory of manifests.
  sed "s|^\( *image: \).*/etcd:.*\$|\1$image|" "$former_etcd" | write "$state/next-etcd.yaml" 0600
  mv -f "$state/next-etcd.yaml" "$manifest"
  if ! wait_until_healthy new_etcd_answers "$before"; then
    said=$(print_etcd_error)
    restore_etcd
    wait_until_restored etcd_answers || say "$NODE_NAME: etcd does not come up with its former image either"
    die "etcd on $NODE_NAME does not come up with $image and has its former image again${said:+; it said: $said}"
  fi
  rm -f "$former_etcd"
}

# Restores the former manifest after a failed or interrupted upgrade.
restore_etcd() { [[ ! -e $former_etcd ]] || mv -f "$former_etcd" "$manifest"; }

new_etcd_answers() {
  local now
  now=$(list_etcd_containers) && [[ -n $now && $now != "$1" ]] && etcd_answers
}

print_etcd_error() {
  local all
  all=$(timeout "$((20 * factor))" crictl ps --all --quiet --name '^etcd$') || return 0
  [[ -z $all ]] || timeout "$((20 * factor))" crictl logs --tail 50 "${all%%$'\n'*}" 2>&1 | print_last_error
}
