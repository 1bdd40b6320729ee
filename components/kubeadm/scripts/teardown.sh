# shellcheck shell=bash disable=SC2154,SC2016,SC2034
# Before the cluster goes: lets the cloud controller and Cinder CSI give back what they made in the cloud.
# Result: {"released": "yes"}. Only what belongs to this cluster is touched, by asking its own API.
# Volumes whose reclaim policy is Retain stay, as their owner wanted.

teardown() {
  local seen='' most=''
  require OTHERS
  if [[ ! -e $KUBECONFIG ]]; then
    [[ $OTHERS == no ]] ||
      die_as KUBERNETES_UNREACHABLE "$(hostname) is no control plane yet, and the others may still have load balancers and volumes; run up, so that it joins them, or destroy --abandon"
    printf '{"released": "nothing"}\n' >&4
    return
  fi
  begin_release nothing
  # Data goes last: not before load balancers do, which may be stuck, and then the cluster stays as it is.
  # The cloud controller waits up to 5 minutes before it asks Octavia again, after waits of its own for each answer of as long.
  dwindle "load balancers" 900 release_balancers || blocked "load balancers"
  # Longer than the 6 minutes after which Kubernetes itself takes volumes from a node that is not Ready.
  dwindle volumes 420 release_volumes || blocked volumes
  end_release
}

# From the first one that has gone on, volumes are asked to go, too: neither waits for the other.
release_balancers() {
  local balancers those still=0
  release_services
  [[ -n $left ]] || return 0
  : "${most:=$left}"
  ((left < most)) || return 0
  balancers=$left those=$seen
  release_volumes
  left=$balancers seen=$those
}

release_services() {
  seen=$(look services "{{if eq .spec.type \"LoadBalancer\"}}service $where $finalizers{{end}}") || return 0
  left=$(awk 'NF { n++ } END { print n + 0 }' <<<"$seen")
  delete_some v1 Service <<<"$seen"
}

# Volumes that Cinder CSI would delete with their claim, those that it is about to make for one, and what holds them.
release_volumes() {
  local all
  all=$(look persistentvolumes,storageclasses,persistentvolumeclaims,pods,volumeattachments "$held") || return 0
  seen=$(doomed <<<"$all")
  left=$(awk '$1 == "volume" || $1 == "claim" && $5 == "-" { n++ } END { print n + 0 }' <<<"$seen")
  # The claims first: a pod that comes again finds its claim going and stays out.
  delete_some v1 PersistentVolumeClaim <<<"$(of claim)"
  delete_some v1 Pod <<<"$(of pod)"
  ((still < 10)) || release_from_the_dead
}

# One that is Available was never anybody's, and nobody deletes it. Pods have a line for each claim.
readonly held='
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

# Of all that the volumes that go, the claims on them, and who holds those.
doomed() {
  awk '
    $1 == "volume" { volume[$4] }
    $1 == "class" { class[$4] }
    $1 == "claim" && ($5 in volume || $5 == "-" && $6 in class) { claim[$3 " " $4] }
    $1 == "volume" || $1 == "claim" && ($3 " " $4) in claim
    $1 == "pod" && ($3 " " $6) in claim
    $1 == "attachment" && $6 in volume'
}

# of KIND: those that were seen, once each.
of() { awk -v kind="$1" '$1 == kind && !said[$3 " " $4]++' <<<"$seen"; }

# A node that is not Ready, or not there, ends no pod and unmounts nothing. What is lost by force here is to be deleted anyway, so
# nobody has to be certain that the node does not run; volumes that stay, and the pods on them, are left alone. Where the driver
# itself ran there, it would come elsewhere only after minutes.
release_from_the_dead() {
  local ready driver
  ready=$(look nodes '{{range .status.conditions}}{{if and (eq .type "Ready") (eq .status "True")}}{{$one.metadata.name}} {{end}}{{end}}') || return 0
  delete_some v1 Pod --force --grace-period=0 <<<"$(of pod | on_the_dead)"
  delete_some storage.k8s.io/v1 VolumeAttachment <<<"$(of attachment | on_the_dead)"
  driver=$(look pods "{{if eq .metadata.namespace \"kube-system\"}}{{range .metadata.ownerReferences}}{{if eq .kind \"ReplicaSet\"}}{{with \$one}}pod $where {{or .spec.nodeName \"-\"}} $finalizers{{end}}{{end}}{{end}}{{end}}") || return 0
  delete_some v1 Pod <<<"$(on_the_dead <<<"$driver")"
}

on_the_dead() { awk -v ready=" $ready" 'NF && $5 != "-" && !index(ready, " " $5 " ")'; }

run_step teardown teardown
