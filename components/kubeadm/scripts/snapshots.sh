# shellcheck shell=bash disable=SC2154
# Before volumes go: lets Cinder CSI delete the snapshots that go with their object. Cinder keeps a volume that has one.
# Result: {"released": "yes"}. A snapshot whose deletion policy is Retain stays, as its owner wanted.

export KUBECONFIG=/etc/kubernetes/admin.conf

release_snapshots() {
  if [[ ! -e $KUBECONFIG ]]; then
    printf '{"released": "nothing"}\n' >&4
    return
  fi
  poll 60 ask_snapshots get --raw /readyz || die_as KUBERNETES_UNREACHABLE "the API server does not answer, so no snapshot can be released"
  ask_snapshots delete volumesnapshots --all --all-namespaces --wait=false
  poll 240 no_snapshots || die "snapshots are left: $(snapshots | tr '\n' ' ')"
  printf '{"released": "yes"}\n' >&4
}

ask_snapshots() { timeout 30 kubectl "$@"; }

snapshots() {
  ask_snapshots get volumesnapshotcontents \
    -o go-template='{{range .items}}{{if and (eq .spec.driver "cinder.csi.openstack.org") (eq .spec.deletionPolicy "Delete")}}{{.metadata.name}}{{"\n"}}{{end}}{{end}}'
}

no_snapshots() {
  local left
  left=$(snapshots) && [[ -z $left ]]
}

run_step snapshots release_snapshots
