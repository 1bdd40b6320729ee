# shellcheck shell=bash disable=SC2154
# Before the cluster goes: lets the cloud controller and Cinder CSI give back what they made in the cloud.
# Result: {"released": "yes"}. Only what belongs to this cluster is touched, by asking its own API.
# Volumes whose reclaim policy is Retain stay, as their owner wanted.

export KUBECONFIG=/etc/kubernetes/admin.conf

teardown() {
  require OTHERS
  if [[ ! -e $KUBECONFIG ]]; then
    [[ $OTHERS == no ]] ||
      die_as KUBERNETES_UNREACHABLE "$(hostname) is no control plane yet, and the others may still have load balancers and volumes; run up, so that it joins them, or destroy --abandon"
    printf '{"released": "nothing"}\n' >&4
    return
  fi
  poll 60 ask get --raw /readyz || die_as KUBERNETES_UNREACHABLE "the API server does not answer, so nothing can be released"
  delete_services
  poll 240 no_services || die "load balancers are left: $(services | tr '\n' ' ')"
  poll 240 release_volumes || die "volumes are left: $(volumes | tr '\n' ' ')"
  printf '{"released": "yes"}\n' >&4
}

ask() { timeout 30 kubectl "$@"; }

services() {
  ask get services --all-namespaces \
    -o go-template='{{range .items}}{{if eq .spec.type "LoadBalancer"}}{{.metadata.namespace}} {{.metadata.name}}{{"\n"}}{{end}}{{end}}'
}

delete_services() {
  local namespace name
  while read -r namespace name; do
    say "releasing the load balancer of $namespace/$name"
    ask delete service --namespace "$namespace" "$name" --wait=false
  done < <(services)
}

no_services() {
  local left
  left=$(services) && [[ -z $left ]]
}

# Volumes that Cinder CSI would delete with their claim: "VOLUME NAMESPACE CLAIM".
volumes() {
  ask get persistentvolumes \
    -o go-template='{{range .items}}{{if .spec.csi}}{{if and (eq .spec.csi.driver "cinder.csi.openstack.org") (eq .spec.persistentVolumeReclaimPolicy "Delete")}}{{.metadata.name}} {{.spec.claimRef.namespace}} {{.spec.claimRef.name}}{{"\n"}}{{end}}{{end}}{{end}}'
}

# A claim goes when no pod uses it; a pod that comes again finds its claim going and stays out.
release_volumes() {
  local left volume namespace claim
  left=$(volumes) || return 1
  [[ -n $left ]] || return 0
  while read -r volume namespace claim; do
    say "releasing the volume $volume of $namespace/$claim"
    ask delete persistentvolumeclaim --namespace "$namespace" "$claim" --wait=false --ignore-not-found
    delete_users "$namespace" "$claim"
  done <<<"$left"
  return 1
}

delete_users() {
  local pod
  for pod in $(ask get pods --namespace "$1" -o go-template="{{range .items}}{{\$pod := .metadata.name}}{{range .spec.volumes}}{{if .persistentVolumeClaim}}{{if eq .persistentVolumeClaim.claimName \"$2\"}}{{\$pod}} {{end}}{{end}}{{end}}{{end}}"); do
    ask delete pod --namespace "$1" "$pod" --wait=false --ignore-not-found
  done
}

run_step teardown teardown
