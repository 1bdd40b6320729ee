# shellcheck shell=bash disable=SC2016,SC2034
# Runs before volumes are deleted. Lets Cinder CSI delete its snapshots, because Cinder does not
# delete a volume that has a snapshot. Keeps snapshots with the deletion policy Retain.
# Result: {"released": "yes" | "nothing"}.

snapshots() {
  local seen=''
  if [[ ! -e $KUBECONFIG ]]; then
    print_result released nothing
    return
  fi
  begin_release "no snapshot"
  wait_until_none_left snapshots 240 release_snapshots || die_blocked snapshots
  end_release
}

# Deletes snapshots of Cinder CSI with the deletion policy Delete. Sets `seen` to the objects and
# `remaining` to the number of remaining snapshots.
release_snapshots() {
  local all
  all=$(list_objects volumesnapshotcontents,volumesnapshots "$snapshot_template") || return 0
  seen=$(awk '$1 == "content" { content[$4] } $1 == "content" || $1 == "snapshot" && $5 in content' <<<"$all")
  remaining=$(awk '$1 == "content" { n++ } END { print n + 0 }' <<<"$seen")
  delete_batch snapshot.storage.k8s.io/v1 VolumeSnapshot <<<"$(awk '$1 == "snapshot"' <<<"$seen")"
}

readonly snapshot_template='
{{- if eq .kind "VolumeSnapshotContent"}}
  {{- if and (eq .spec.driver "cinder.csi.openstack.org") (eq .spec.deletionPolicy "Delete")}}content '$where' '$finalizers'{{end}}
{{- end}}
{{- if eq .kind "VolumeSnapshot"}}{{if .status}}snapshot '$where' {{or .status.boundVolumeSnapshotContentName "-"}} '$finalizers'{{end}}{{end}}'

# Six hours, as for the other objects of the cluster (release-cluster-objects.sh).
run_step snapshots snapshots lock 21600
