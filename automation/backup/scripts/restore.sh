#!/bin/bash
# Brings etcd back from a snapshot, in steps that the operator's machine calls on all members and control planes at once.
# look: prints {"prepared", "place", "live", "etcd", "apiServer", "majority", "unpacked", "peers"}: whether the machine was prepared for
#   Kubernetes, has the keys of its place in the cluster, a manifest of etcd or the API server with kubelet, a manifest of each anywhere;
#   whether its etcd goes on with a majority; the digest of the archive that gave it its place, until the cluster is back; and the peers
#   that its etcd knows, null where it does not say.
# unpack DIGEST: on a machine that was created again, the archive of its former server (standard input). Its etcd and API server do not start.
# load TOKEN MEMBERS BYTES REVISION: makes the data of the snapshot (standard input) ready beside those of etcd, which goes on; their
#   revisions go on behind REVISION. TOKEN is the run's.
# tidy: takes away what is ready, where it is not to be used.
# stop: ends etcd and the API server, as far as they are here.
# swap TOKEN: the data that are ready take the place of the former ones, which are kept beside them; where an earlier run made those and
#   came to no end, they are not.
# start-etcd, start-api: start them again, and wait until they answer. What could not be done then is a line "note: ...".
# settle: the cluster is back, and these data are in use.
# nodes: prints a line for each node, NAME PROVIDER-ID. forget-node NAME: deletes one. register: this machine becomes a node again.
set -euo pipefail
umask 077
readonly kubernetes=/etc/kubernetes data=/var/lib/etcd state=/var/lib/stackadm volatile=/run/stackadm
# The machine's timeout factor (components/support/scripts/common.sh).
factor=1
[[ ! -r $state/timeout-factor ]] || read -r factor <"$state/timeout-factor" || :
[[ $factor =~ ^[1-9][0-9]?$ ]] || factor=1
readonly manifests=$kubernetes/manifests aside=$state/restore pki=$kubernetes/pki/etcd
readonly next=$data/stackadm-next former=$data/stackadm-former made=member/stackadm-restored
readonly unpacked=$state/restore-unpacked flags=/var/lib/kubelet/kubeadm-flags.env
# From which archive the machine has its place, until the cluster is back. No archive has it.
readonly origin=$state/restore-digest
# Of what this needs, the last that prepare makes (components/machine/scripts/prepare.sh), after volumes and programs.
readonly guard=/etc/systemd/system/kubelet.service.d/20-stackadm-guard.conf

die() {
  printf 'reason: %s\n' "$*" >&2
  exit 1
}

note() { printf 'note: %s\n' "$*"; }

# poll SECONDS COMMAND...
poll() {
  local end=$((SECONDS + $1 * factor))
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

running() { timeout "$((20 * factor))" crictl ps --quiet --state running --name "^$1\$"; }

etcdctl() {
  local container
  container=$(running etcd) && [[ -n $container ]] &&
    timeout "$((20 * factor))" crictl exec "${container%%$'\n'*}" etcdctl --endpoints=https://127.0.0.1:2379 \
      --cacert="$pki/ca.crt" --cert="$pki/server.crt" --key="$pki/server.key" "$@" 2>/dev/null
}

look() {
  local prepared=true place=false live=false etcd=false api=false majority=false digest='' peers='[]' one
  for one in crictl ctr kubelet; do command -v "$one" >/dev/null || prepared=false; done
  [[ -e $guard ]] || prepared=false
  if [[ -e $state/init.done || -e $state/join.done || -e $state/etcd.done ]] && [[ -e $pki/ca.key || -e $kubernetes/pki/ca.key ]]; then place=true; fi
  if [[ -e $manifests/etcd.yaml || -e $manifests/kube-apiserver.yaml ]]; then live=true; fi
  [[ ! -e $origin ]] || digest=$(<"$origin")
  if has etcd; then
    etcd=true
    poll 30 ask_peers || peers=null
    if etcd_answers; then majority=true; fi
  fi
  if has kube-apiserver; then api=true; fi
  printf '{"prepared": %s, "place": %s, "live": %s, "etcd": %s, "apiServer": %s, "majority": %s, "unpacked": "%s", "peers": %s}\n' \
    "$prepared" "$place" "$live" "$etcd" "$api" "$majority" "$digest" "$peers"
}

# Sets `peers` to those that this member knows, also without a majority. One that does not run knows nobody.
ask_peers() {
  local containers said
  containers=$(running etcd) || return 1
  [[ -n $containers ]] || return 0
  said=$(etcdctl member list --consistency=s) && [[ -n $said ]] || return 1
  peers=[$(awk -F', ' '{ printf "%s\"%s\"", sep, $4; sep = ", " }' <<<"$said")]
}

# By what says that it has its place, the machine is known: that comes last, so that what was broken off is done again.
unpack() {
  local digest=$1 file=$state/restore-archive.tgz server one
  mkdir -p "$state" "$data"
  cat >"$file"
  [[ $(sha256sum <"$file") == "$digest "* ]] || die "the archive did not come to $(hostname) as it is in the backup"
  rm -rf "$unpacked"
  mkdir -p "$unpacked"
  tar -xpzf "$file" -C "$unpacked" || die "the archive cannot be unpacked on $(hostname)"
  rm -f "$file"
  systemctl stop kubelet
  # What another archive brought here, whose restore did not come to its end.
  rm -rf "$origin" "$state"/{init,join,etcd}.done "$kubernetes/pki" "$manifests"/{etcd,kube-apiserver}.yaml
  # An etcd without data would begin a cluster of its own.
  mkdir -p "$aside"
  for one in etcd kube-apiserver; do
    if [[ -e $unpacked/etc/kubernetes/manifests/$one.yaml ]]; then mv -f "$unpacked/etc/kubernetes/manifests/$one.yaml" "$aside/"; fi
  done
  # Nova has another ID for it.
  server=$(</var/lib/cloud/data/instance-id)
  one=$unpacked/var/lib/kubelet/kubeadm-flags.env
  if [[ -e $one ]]; then sed -i "s#openstack:///[0-9a-f-]*#openstack:///$server#" "$one"; fi
  # Pods get a copy of it when they start.
  if [[ -e $unpacked/etc/hosts ]]; then name_api "$unpacked/etc/hosts"; fi
  mkdir -p "$unpacked/done"
  for one in "$unpacked"/var/lib/stackadm/*.done; do
    if [[ -e $one ]]; then mv -f "$one" "$unpacked/done/"; fi
  done
  mkdir -p "$kubernetes" "${flags%/*}"
  cp -a "$unpacked/etc/kubernetes/." "$kubernetes/"
  cp -a "$unpacked/var/lib/stackadm/." "$state/"
  if [[ -d $unpacked/var/lib/kubelet ]]; then cp -a "$unpacked/var/lib/kubelet/." "${flags%/*}/"; fi
  printf '%s' "$digest" >"$origin"
  sync
  cp -a "$unpacked/done/." "$state/"
  rm -rf "$unpacked"
}

# name_api FILE: the name of the API is what it was there.
name_api() {
  local known
  known=$(sed '/# stackadm$/d' /etc/hosts)
  { printf '%s\n' "$known" && sed -n '/# stackadm$/p' "$1"; } >/etc/hosts
}

# Exits with an error while kubeadm runs, because kubeadm would write manifests during the restore.
require_idle() {
  local one
  for one in init join upgrade; do
    ! systemctl --quiet is-active "stackadm-$one.service" || die "kubeadm is still at work on $(hostname); run this again in some minutes"
  done
}

# etcdutl of the release that the member runs, from its image.
load() {
  local token=$1 members=$2 bytes=$3 revision=$4 name url image free root=$volatile/etcd-image code=0
  require_idle
  name=$(flag etcd name) url=$(flag etcd initial-advertise-peer-urls)
  [[ ,$members, == *",$name=$url,"* ]] || die "the certificates of $(hostname) are for $url, and it has another address now"
  tidy
  # etcd goes on meanwhile, and a disk that is full would end it. Beside the data there are logs of some size.
  free=$(df --output=avail -B1 "$data" | tail -n 1)
  ((free > 3 * bytes + 268435456)) ||
    die "$data on $(hostname) has $((free / 1048576)) MiB left, and $((bytes * 3 / 1048576 + 257)) are needed beside the data"
  image=$(sed -n 's/^ *image: //p' "$(manifest_of etcd)")
  cat >"$next.db"
  mkdir -p "$root"
  pull_image 600 "$image" >&2 || [[ -n $(crictl images --quiet "$image") ]] || die "$(hostname) cannot pull $image$(pull_fault "$image")"
  # What a run left that was killed may be another release.
  ctr -n k8s.io images unmount --rm "$root" >/dev/null 2>&1 || :
  ctr -n k8s.io images mount "$image" "$root" >&2 || die "the image $image cannot be read on $(hostname)"
  make_data "$root/usr/local/bin/etcdutl" >&2 || code=$?
  ctr -n k8s.io images unmount --rm "$root" >/dev/null 2>&1 || :
  rm -f "$next.db"
  ((code == 0)) || die "the snapshot cannot be restored on $(hostname)"
}

# make_data ETCDUTL: with the variables of `load`. Every member has the same snapshot, so each comes to the same revision.
make_data() {
  local said own more
  said=$("$1" snapshot status "$next.db" --write-out=json) && own=$(sed -n 's/.*"revision":\([0-9]*\).*/\1/p' <<<"$said") && [[ -n $own ]] || return 1
  more=$((revision - own))
  # The clock that said it goes wrong.
  ((more > 0)) || more=1000000000
  "$1" snapshot restore "$next.db" --data-dir "$next" --name "$name" \
    --initial-cluster "$members" --initial-cluster-token "$token" --initial-advertise-peer-urls "$url" \
    --bump-revision "$more" --mark-compacted && printf '%s %s\n' "$token" "$(date +%s)" >"$next/$made"
}

tidy() { rm -rf "$next" "$next.db" "$former"; }

# The whole container: an etcd that still writes would do so into data that were moved.
gone() {
  local containers
  containers=$(running "$1") && [[ -z $containers ]]
}

stop() {
  local one containers
  require_idle
  # Nobody else takes a static pod away.
  systemctl start kubelet || :
  mkdir -p "$aside"
  for one in kube-apiserver etcd; do
    if [[ -e $manifests/$one.yaml ]]; then mv -f "$manifests/$one.yaml" "$aside/"; fi
  done
  for one in kube-apiserver etcd; do
    if ! poll 120 gone "$one"; then
      mapfile -t containers < <(running "$one")
      timeout "$((60 * factor))" crictl stop "${containers[@]}" >&2 || :
      poll 30 gone "$one" || die "$one on $(hostname) does not stop"
    fi
  done
}

swap() {
  local at=$data
  [[ ! -d $next/member ]] || at=$next
  [[ -e $at/$made && $(<"$at/$made") == "$1 "* ]] || die "no data are ready on $(hostname)"
  # Done before.
  [[ $at == "$next" ]] || return 0
  if [[ -e $manifests/etcd.yaml ]] || ! gone etcd; then die "etcd on $(hostname) runs again: something put its manifest back"; fi
  if is_unfinished; then
    mv "$data/member" "$former"
  elif [[ -e $data/member ]]; then
    mv "$data/member" "$data/member-before-$(date -u +%Y%m%dT%H%M%SZ)"
  fi
  mv "$next/member" "$data/member"
  rmdir "$next"
  rm -rf "$former"
}

# Whether a run of the last day made the data that are there, and was not seen to end: they are in the backup. Older ones may have been in
# use since, whatever became of that run.
is_unfinished() {
  local at=0
  [[ ! -e $data/$made ]] || read -r _ at <"$data/$made"
  ((at + 86400 > $(date +%s)))
}

settle() { rm -f "$data/$made" "$origin"; }

put_back() {
  mkdir -p "$manifests"
  if [[ -e $aside/$1.yaml ]]; then mv -f "$aside/$1.yaml" "$manifests/"; fi
}

start_etcd() {
  put_back etcd
  systemctl start kubelet
  poll 240 etcd_answers || die "etcd on $(hostname) does not answer with the data of the snapshot; its log says why: crictl logs"
  # Of a time when it was full: it would take nothing. Where it still is, it says so again.
  etcdctl alarm disarm >/dev/null || :
}

# A read that a majority answers, also where an alarm is on.
etcd_answers() { etcdctl get stackadm >/dev/null; }

start_api() {
  local container one
  put_back kube-apiserver
  systemctl start kubelet
  poll 240 api_answers || die "the API server of $(hostname) does not answer; its log says why: crictl logs"
  rmdir "$aside" 2>/dev/null || :
  # From here on somebody may use it, and these data.
  rm -f "$origin" "$data/$made"
  # They have read newer objects than there are.
  for container in $(running 'kube-(controller-manager|scheduler)'); do
    timeout "$((60 * factor))" crictl stop "$container" >&2 || :
  done
  systemctl restart kubelet
  renew_node || note "the node $(hostname) is not what its machine is yet; when webhooks answer, delete it, and restart kubelet there"
  # What this machine remembers of the cluster is newer than the cluster: the next `up` looks at each of it.
  rm -f "$state"/kept-version "$state"/kept-upgraded
  poll 60 know_schedulable || note "whether pods of users may run on $(hostname) is not known; controlPlane.schedulable may have to be changed twice"
  for one in configuration kubelet proxy; do
    if [[ -e $state/kept-$one ]]; then printf 'not finished' >"$state/kept-$one"; fi
  done
}

# No step of an `up` works meanwhile, and none of the machine's own.
locked() {
  mkdir -p "$volatile"
  exec 9>"$volatile/lock"
  flock -w "$((900 * factor))" 9 || die "another step is still running on $(hostname)"
  "$@" 9>&-
}

case ${1:-} in
  look | nodes) "$1" ;;
  tidy | stop | settle) locked "$1" ;;
  unpack | swap) locked "$1" "$2" ;;
  load) locked load "$2" "$3" "$4" "$5" ;;
  start-etcd) locked start_etcd ;;
  start-api) locked start_api ;;
  forget-node) forget_node "$2" || die "the API server of $(hostname) does not let go the node $2" ;;
  register) systemctl restart kubelet ;;
  *) exit 64 ;;
esac
