# shellcheck shell=bash disable=SC2154,SC2016,SC2034
# Before volumes go: lets Cinder CSI delete the snapshots that go with their object. Cinder keeps a volume that has one.
# Result: {"released": "yes"}. A snapshot whose deletion policy is Retain stays, as its owner wanted.

snapshots() {
  local seen=''
  if [[ ! -e $KUBECONFIG ]]; then
    printf '{"released": "nothing"}\n' >&4
    return
  fi
  begin_release "no snapshot"
  dwindle snapshots 240 release_snapshots || blocked snapshots
  end_release
}

# Each that Cinder keeps and that goes with its object; another driver's are not ours.
release_snapshots() {
  local all
  all=$(look volumesnapshotcontents,volumesnapshots "$kept") || return 0
  seen=$(awk '$1 == "content" { content[$4] } $1 == "content" || $1 == "snapshot" && $5 in content' <<<"$all")
  left=$(awk '$1 == "content" { n++ } END { print n + 0 }' <<<"$seen")
  delete_some snapshot.storage.k8s.io/v1 VolumeSnapshot <<<"$(awk '$1 == "snapshot"' <<<"$seen")"
}

readonly kept='
{{- if eq .kind "VolumeSnapshotContent"}}
  {{- if and (eq .spec.driver "cinder.csi.openstack.org") (eq .spec.deletionPolicy "Delete")}}content '$where' '$finalizers'{{end}}
{{- end}}
{{- if eq .kind "VolumeSnapshot"}}{{if .status}}snapshot '$where' {{or .status.boundVolumeSnapshotContentName "-"}} '$finalizers'{{end}}{{end}}'

run_step snapshots snapshots
