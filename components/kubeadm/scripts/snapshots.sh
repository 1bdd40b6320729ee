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
  poll 60 delete_snapshots || die "the snapshots cannot be deleted: $(snapshots | tr '\n' ',')"
  poll 240 no_snapshots || die "snapshots are left: $(snapshots | tr '\n' ',')"
  printf '{"released": "yes"}\n' >&4
}

ask_snapshots() { timeout 30 kubectl "$@"; }

# Namespace and name of each that Cinder keeps and that goes with its object; another driver's are not ours.
snapshots() {
  ask_snapshots get volumesnapshotcontents \
    -o go-template='{{range .items}}{{if and (eq .spec.driver "cinder.csi.openstack.org") (eq .spec.deletionPolicy "Delete")}}{{.spec.volumeSnapshotRef.namespace}} {{.spec.volumeSnapshotRef.name}}{{"\n"}}{{end}}{{end}}'
}

delete_snapshots() {
  local all namespace name
  all=$(snapshots) || return 1
  while read -r namespace name; do
    [[ -z $name ]] || ask_snapshots -n "$namespace" delete volumesnapshot "$name" --ignore-not-found --wait=false </dev/null || return 1
  done <<<"$all"
}

no_snapshots() {
  local left
  left=$(snapshots) && [[ -z $left ]]
}

run_step snapshots release_snapshots
