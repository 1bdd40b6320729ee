#!/bin/bash
# Brings etcd back from a snapshot, in steps that the operator's machine calls on all members and control planes at once. Each may run
# again: what is done is left.
# look: prints {"prepared", "place", "etcd", "apiServer"}: whether the machine has the programs that this needs, the keys of its place
#   in the cluster, a member of etcd and an API server.
# unpack: on a machine that was made anew, the archive of its former server (standard input).
# load TOKEN MEMBERS BYTES: makes the data of the snapshot (standard input) ready beside those of etcd, which goes on.
# stop: ends etcd and the API server, as far as they are here.
# swap: the data that are ready take the place of the former ones, which are kept beside them.
# start-etcd, start-api: start them again, and wait until they answer.
set -euo pipefail
umask 077
readonly kubernetes=/etc/kubernetes data=/var/lib/etcd state=/var/lib/stackadm volatile=/run/stackadm
readonly manifests=$kubernetes/manifests aside=$state/restore pki=$kubernetes/pki/etcd admin=$kubernetes/admin.conf
readonly next=$data/stackadm-next

die() {
  printf 'reason: %s\n' "$*" >&2
  exit 1
}

# poll SECONDS COMMAND...
poll() {
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    ((SECONDS < end)) || return 1
    sleep 0.5
  done
}

# Where the manifest of a static pod is: with kubelet, or set aside; nothing: the machine has none.
manifest_of() {
  local one
  for one in "$manifests/$1.yaml" "$aside/$1.yaml"; do
    if [[ -e $one ]]; then
      printf '%s' "$one"
      return
    fi
  done
}

has() { [[ -n $(manifest_of "$1") ]]; }

# flag POD NAME: the value of an argument in its manifest.
flag() { sed -n "s/^ *- --$2=//p" "$(manifest_of "$1")"; }

look() {
  local prepared=true place=false etcd=false api=false one
  for one in crictl ctr kubelet; do command -v "$one" >/dev/null || prepared=false; done
  if [[ -e $state/init.done || -e $state/join.done || -e $state/etcd.done ]] && [[ -e $pki/ca.key || -e $kubernetes/pki/ca.key ]]; then place=true; fi
  if has etcd; then etcd=true; fi
  if has kube-apiserver; then api=true; fi
  printf '{"prepared": %s, "place": %s, "etcd": %s, "apiServer": %s}\n' "$prepared" "$place" "$etcd" "$api"
}

unpack() {
  local file=$volatile/archive.tgz flags=/var/lib/kubelet/kubeadm-flags.env server
  cat >"$file"
  tar -tzf "$file" >/dev/null || die "the archive did not come whole"
  systemctl stop kubelet
  mkdir -p "$data"
  tar -xpzf "$file" -C / || die "the archive cannot be unpacked on $(hostname)"
  rm -f "$file"
  # Nova has another ID for it.
  server=$(</var/lib/cloud/data/instance-id)
  if [[ -e $flags ]]; then sed -i "s#openstack:///[0-9a-f-]*#openstack:///$server#" "$flags"; fi
}

# etcdutl of the release that the member runs, from its image.
load() {
  local token=$1 members=$2 bytes=$3 name url image free root=$volatile/etcd-image code=0
  name=$(flag etcd name) url=$(flag etcd initial-advertise-peer-urls)
  [[ ,$members, == *",$name=$url,"* ]] || die "the certificates of $(hostname) are for $url, and it has another address now"
  # etcd goes on meanwhile, and a disk that is full would end it.
  free=$(df --output=avail -B1 "$data" | tail -n 1)
  ((free > 3 * bytes)) || die "$data on $(hostname) has $((free / 1048576)) MiB left, and needs three times the $((bytes / 1048576 + 1)) MiB of the snapshot"
  image=$(sed -n 's/^ *image: //p' "$(manifest_of etcd)")
  rm -rf "$next" "$next.db"
  cat >"$next.db"
  timeout 600 crictl pull "$image" >&2 || [[ -n $(crictl images --quiet "$image") ]] || die "$(hostname) cannot pull $image"
  mkdir -p "$root"
  ctr -n k8s.io images mount "$image" "$root" >&2 || die "the image $image cannot be read on $(hostname)"
  "$root/usr/local/bin/etcdutl" snapshot restore "$next.db" --data-dir "$next" --name "$name" \
    --initial-cluster "$members" --initial-cluster-token "$token" --initial-advertise-peer-urls "$url" \
    --bump-revision 1000000000 --mark-compacted >&2 || code=$?
  ctr -n k8s.io images unmount --rm "$root" >&2 || :
  rm -f "$next.db"
  ((code == 0)) || die "the snapshot cannot be restored on $(hostname)"
}

# The whole container: an etcd that still writes would do so into data that were moved.
gone() {
  local containers
  containers=$(timeout 20 crictl ps --quiet --state running --name "^$1\$") && [[ -z $containers ]]
}

stop() {
  local one
  mkdir -p "$aside"
  for one in kube-apiserver etcd; do
    if [[ -e $manifests/$one.yaml ]]; then mv -f "$manifests/$one.yaml" "$aside/"; fi
  done
  for one in kube-apiserver etcd; do
    poll 180 gone "$one" || die "$one on $(hostname) does not stop"
  done
}

swap() {
  [[ -d $next/member ]] || return 0
  if [[ -e $data/member ]]; then mv "$data/member" "$data/member-before-$(date -u +%Y%m%dT%H%M%SZ)"; fi
  mv "$next/member" "$data/member"
  rmdir "$next"
}

put_back() {
  mkdir -p "$manifests"
  if [[ -e $aside/$1.yaml ]]; then mv -f "$aside/$1.yaml" "$manifests/"; fi
}

start_etcd() {
  put_back etcd
  systemctl start kubelet
  poll 240 etcd_answers || die "etcd on $(hostname) does not answer with the data of the snapshot; its log says why: crictl logs"
}

etcd_answers() {
  local container
  container=$(timeout 20 crictl ps --quiet --state running --name '^etcd$') && [[ -n $container ]] &&
    timeout 20 crictl exec "${container%%$'\n'*}" etcdctl --endpoints=https://127.0.0.1:2379 \
      --cacert="$pki/ca.crt" --cert="$pki/server.crt" --key="$pki/server.key" endpoint health >/dev/null 2>&1
}

start_api() {
  local container
  put_back kube-apiserver
  systemctl start kubelet
  poll 240 api_answers || die "the API server of $(hostname) does not answer; its log says why: crictl logs"
  # They have read newer objects than there are.
  for container in $(timeout 20 crictl ps --quiet --state running --name '^kube-(controller-manager|scheduler)$'); do
    timeout 60 crictl stop "$container" >/dev/null || :
  done
  systemctl restart kubelet
  renew_node
  rmdir "$aside" 2>/dev/null || :
}

kubectl_here() {
  timeout 20 kubectl --kubeconfig "$admin" --server "https://$(flag kube-apiserver advertise-address):6443" "$@"
}

api_answers() { [[ $(kubectl_here get --raw /readyz 2>/dev/null) == ok ]]; }

# The node of a former server cannot become that of this one: it registers anew, and is marked as kubeadm had marked it.
renew_node() {
  local flags=/var/lib/kubelet/kubeadm-flags.env name own known tainted
  own=$(sed -n 's#.*--provider-id=\(openstack:///[0-9a-f-]*\).*#\1#p' "$flags")
  name=$(hostname)
  known=$(kubectl_here get node "$name" --ignore-not-found -o 'jsonpath={.spec.providerID}')
  [[ -n $own && -n $known && $known != "$own" ]] || return 0
  tainted=$(kubectl_here get node "$name" -o 'jsonpath={.spec.taints[*].key}')
  kubectl_here delete node "$name" --wait=false >&2
  systemctl restart kubelet
  poll 120 is_new_node "$name" "$own" || die "$name does not become a node again"
  if [[ $tainted == *node-role.kubernetes.io/control-plane* ]]; then
    kubectl_here taint node "$name" --overwrite node-role.kubernetes.io/control-plane=:NoSchedule >&2
    kubectl_here label node "$name" --overwrite node.kubernetes.io/exclude-from-external-load-balancers= >&2
  fi
  kubectl_here label node "$name" --overwrite node-role.kubernetes.io/control-plane= >&2
}

is_new_node() { [[ $(kubectl_here get node "$1" --ignore-not-found -o 'jsonpath={.spec.providerID}') == "$2" ]]; }

# No step of an `up` works meanwhile, and none of the machine's own.
locked() {
  mkdir -p "$volatile"
  exec 9>"$volatile/lock"
  flock -w 900 9 || die "another step is still running on $(hostname)"
  "$@" 9>&-
}

case ${1:-} in
  look) look ;;
  unpack | stop | swap) locked "$1" ;;
  load) locked load "$2" "$3" "$4" ;;
  start-etcd) locked start_etcd ;;
  start-api) locked start_api ;;
  *) exit 64 ;;
esac
