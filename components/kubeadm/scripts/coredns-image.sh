# shellcheck shell=bash
# Sets the image of CoreDNS to the image in kubeadm's configuration. The pods restart one by one. If
# a pod does not start, restores the former image of all pods. Changes no other part of CoreDNS,
# because the user may have changed the Corefile. Library of control-plane.sh.

readonly coredns_seconds=300

# converge_dns DOCUMENT: sets the image if the `dns` block in DOCUMENT differs from the block in the
# cluster's configuration. Otherwise keeps manual changes. Runs only on the first control plane,
# which later uploads DOCUMENT.
converge_dns() {
  local image before available
  [[ -n $KUBEADM_INIT && $(cluster_configuration | dns_block) != "$(dns_block <"$1")" ]] || return 0
  image=$(kubeadm config images list --config "$1" | grep /coredns:) ||
    die "kubeadm names no image of CoreDNS$(print_tool_error kubeadm)"
  before=$(get_coredns '{.spec.template.spec.containers[0].image}') || before=''
  [[ -n $before ]] ||
    die "kubernetes.images.coreDns: the cluster has no deployment coredns in kube-system that could get it; leave it out"
  if [[ $image == "$before" ]]; then return 0; fi
  say "$NODE_NAME: CoreDNS restarts with the image $image"
  available=$(get_coredns '{.status.availableReplicas}') || available=''
  set_coredns_image "$image"
  # Does not wait if CoreDNS has never run, for example because the cluster has no pod network.
  if [[ -z $available ]] || poll "$coredns_seconds" is_coredns_rolled_out; then return 0; fi
  set_coredns_image "$before"
  die_as CONFIGURATION_UNDONE "kubernetes.images.coreDns: CoreDNS does not come up with $image and has $before again"
}

dns_block() { awk '/^[^ ]/ { inside = /^dns:/ } inside && /^ /'; }

get_coredns() { kubectl_admin -n kube-system get deployment coredns -o "jsonpath=$1"; }

set_coredns_image() {
  poll 60 kubectl_admin -n kube-system set image deployment coredns "coredns=$1" ||
    die "the API server of $NODE_NAME did not store the image of CoreDNS"
}

is_coredns_rolled_out() { kubectl_admin -n kube-system rollout status deployment coredns --timeout=15s; }
