# shellcheck shell=bash disable=SC2016,SC2034
# Runs before the cluster is deleted. Lets the cloud controller and Cinder CSI delete their load
# balancers and volumes in the cloud. Uses only the cluster's API, so that no objects of other
# clusters are deleted. Keeps volumes with the reclaim policy Retain.
# Result: {"released": "yes" | "nothing"}.

teardown() {
  local seen='' most=''
  require OTHERS
  if [[ ! -e $KUBECONFIG ]]; then
    [[ $OTHERS == no ]] ||
      die_as KUBERNETES_UNREACHABLE "$(hostname) is no control plane yet, and the others may still have load balancers and volumes; run up, so that it joins them, then destroy again"
    print_result released nothing
    return
  fi
  begin_release nothing
  # Deletes load balancers first, so that a cluster whose load balancers cannot be deleted keeps its
  # volumes. 900 s: the cloud controller waits up to 5 minutes for each answer of Octavia, and up to
  # 5 minutes before it repeats a request.
  wait_until_none_left "load balancers" 900 release_balancers || die_blocked "load balancers"
  # 420 s are longer than the 6 minutes after which Kubernetes detaches volumes from a node that is
  # not Ready.
  wait_until_none_left volumes 420 release_volumes || die_blocked volumes
  end_release
}

# Deletes load balancers. After the first load balancer is deleted, also deletes volumes, because
# load balancers and volumes do not depend on each other.
release_balancers() {
  local balancers those stalled_seconds=0
  release_services
  [[ -n $remaining ]] || return 0
  : "${most:=$remaining}"
  ((remaining < most)) || return 0
  balancers=$remaining those=$seen
  release_volumes
  remaining=$balancers seen=$those
}

release_services() {
  seen=$(list_objects services "{{if eq .spec.type \"LoadBalancer\"}}service $where $finalizers{{end}}") || return 0
  remaining=$(awk 'NF { n++ } END { print n + 0 }' <<<"$seen")
  delete_batch v1 Service <<<"$seen"
}

# Deletes two kinds of claims: claims with a volume that Cinder CSI will delete, and claims without
# a volume, for which Cinder CSI would still create a volume. Also deletes the pods that use these
# claims. Sets `seen` to all objects that must be deleted. Sets `remaining` to the number of volumes
# plus the number of claims without a volume.
release_volumes() {
  local all
  all=$(list_objects persistentvolumes,storageclasses,persistentvolumeclaims,pods,volumeattachments "$object_template") || return 0
  seen=$(select_deletable <<<"$all")
  remaining=$(awk '$1 == "volume" || $1 == "claim" && $5 == "-" { n++ } END { print n + 0 }' <<<"$seen")
  # Deletes claims first, because a recreated pod does not start while its claim is being deleted.
  delete_batch v1 PersistentVolumeClaim <<<"$(select_kind claim)"
  delete_batch v1 Pod <<<"$(select_kind pod)"
  ((stalled_seconds < 10)) || release_from_unready_nodes
}

# Template of the lines. Excludes Available volumes, which never had a claim and which Kubernetes
# does not delete. Prints one line for each claim of a pod.
readonly object_template='
{{- if eq .kind "PersistentVolume"}}{{if .spec.csi}}
  {{- if and (eq .spec.csi.driver "cinder.csi.openstack.org") (eq .spec.persistentVolumeReclaimPolicy "Delete") (ne .status.phase "Available")}}volume '$where' '$finalizers'{{end}}
{{- end}}{{end}}
{{- if eq .kind "StorageClass"}}
  {{- if eq .provisioner "cinder.csi.openstack.org"}}class there - {{.metadata.name}}{{"\n"}}{{end}}
{{- end}}
{{- if eq .kind "PersistentVolumeClaim"}}claim '$where' {{or .spec.volumeName "-"}} {{or .spec.storageClassName "-"}} '$finalizers'{{end}}
{{- if eq .kind "Pod"}}{{range .spec.volumes}}
  {{- $claim := ""}}
  {{- if .persistentVolumeClaim}}{{$claim = .persistentVolumeClaim.claimName}}{{end}}
  {{- if .ephemeral}}{{$claim = printf "%s-%s" $one.metadata.name .name}}{{end}}
  {{- if $claim}}{{with $one}}pod '$where' {{or .spec.nodeName "-"}} {{$claim}} '$finalizers'{{end}}{{end}}
{{- end}}{{end}}
{{- if eq .kind "VolumeAttachment"}}attachment '$where' {{.spec.nodeName}} {{or .spec.source.persistentVolumeName "-"}} '$finalizers'{{end}}'

# Selects volumes that will be deleted, their claims, and the pods and volume attachments that use
# them.
select_deletable() {
  awk '
    $1 == "volume" { volume[$4] }
    $1 == "class" { class[$4] }
    $1 == "claim" && ($5 in volume || $5 == "-" && $6 in class) { claim[$3 " " $4] }
    $1 == "volume" || $1 == "claim" && ($3 " " $4) in claim
    $1 == "pod" && ($3 " " $6) in claim
    $1 == "attachment" && $6 in volume'
}

# select_kind KIND: prints the objects of this kind in `seen`, each object once.
select_kind() { awk -v kind="$1" '$1 == kind && !said[$3 " " $4]++' <<<"$seen"; }

# Deletes volume attachments, and force-deletes pods, on nodes that are missing or not Ready: such a
# node stops no pod and unmounts no volume. If the node still runs, only volumes that are being
# deleted can lose data; kept volumes and their pods do not change.
# Also deletes pods of Deployments in kube-system on such nodes, because otherwise the storage
# driver would move to another node only after minutes.
release_from_unready_nodes() {
  local ready driver
  ready=$(list_objects nodes '{{range .status.conditions}}{{if and (eq .type "Ready") (eq .status "True")}}{{$one.metadata.name}} {{end}}{{end}}') || return 0
  delete_batch v1 Pod --force --grace-period=0 <<<"$(select_kind pod | select_on_unready_nodes)"
  delete_batch storage.k8s.io/v1 VolumeAttachment <<<"$(select_kind attachment | select_on_unready_nodes)"
  driver=$(list_objects pods "{{if eq .metadata.namespace \"kube-system\"}}{{range .metadata.ownerReferences}}{{if eq .kind \"ReplicaSet\"}}{{with \$one}}pod $where {{or .spec.nodeName \"-\"}} $finalizers{{end}}{{end}}{{end}}{{end}}") || return 0
  delete_batch v1 Pod <<<"$(select_on_unready_nodes <<<"$driver")"
}

select_on_unready_nodes() { awk -v ready=" $ready" 'NF && $5 != "-" && !index(ready, " " $5 " ")'; }

# Six hours, because the time grows with the number of objects. wait_until_none_left ends earlier if
# no object is deleted any more.
run_step teardown teardown lock 21600
