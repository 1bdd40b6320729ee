#!/bin/bash
# Restores etcd from a snapshot. The operator's computer calls each step on all members and control
# planes at the same time.
# look: prints {"prepared", "place", "live", "etcd", "apiServer", "majority", "unpacked", "peers"},
#   see `machineStateSchema` in restore-plan.ts.
# unpack DIGEST: restores the former server's files on a recreated machine, from the archive on
#   standard input. Starts neither etcd nor the API server.
# load TOKEN MEMBERS BYTES REVISION: reads a snapshot of BYTES bytes from standard input and writes
#   its data to the disk. etcd continues to run with the present data. MEMBERS is the initial
#   cluster and TOKEN the cluster token of the restored etcd. Revisions of the restored data
#   continue after REVISION.
# tidy: deletes data that no restore uses.
# stop: stops etcd and the API server, if the machine has them.
# swap TOKEN: replaces etcd's data with the loaded data. Keeps the former data in a directory,
#   except data that an unfinished restore created.
# start-etcd, start-api: start etcd or the API server, and wait until it answers. start-api prints a
#   line "note: ..." for each failure that does not stop the restore.
# settle: records that the restore is complete and the restored data are in use.
# nodes: prints a line "NAME PROVIDER-ID" for each node. forget-node NAME: deletes a node.
# register: registers this machine as a node again.
set -euo pipefail
umask 077
readonly kubernetes=/etc/kubernetes data=/var/lib/etcd state=/var/lib/stackadm volatile=/run/stackadm
# The machine's timeout factor (components/remote-scripts/scripts/common.sh).
factor=1
[[ ! -r $state/timeout-factor ]] || read -r factor <"$state/timeout-factor" || :
[[ $factor =~ ^[1-9][0-9]?$ ]] || factor=1
# Requests to the cluster must not go to a proxy, which the image may set in /etc/environment.
unset {http,https,ftp,all,no}_proxy {HTTP,HTTPS,FTP,ALL,NO}_PROXY
readonly manifests=$kubernetes/manifests aside=$state/restore pki=$kubernetes/pki/etcd
readonly next=$data/stackadm-next former=$data/stackadm-former made=member/stackadm-restored
readonly unpacked=$state/restore-unpacked flags=/var/lib/kubelet/kubeadm-flags.env
# Digest of the unpacked archive. This file exists until the restore is complete. Archives do not
# contain this file.
readonly origin=$state/restore-digest
# machine/scripts/prepare/prepare.sh creates this file after it has mounted the volumes and
# installed the programs that a restore needs.
readonly guard=/etc/systemd/system/kubelet.service.d/20-stackadm-guard.conf

die() {
  printf 'reason: %s\n' "$*" >&2
  exit 1
}

note() { printf 'note: %s\n' "$*"; }

# poll SECONDS COMMAND...: repeats the command until it succeeds, within SECONDS times `factor`.
poll() {
  local end=$((SECONDS + $1 * factor))
  shift
  until "$@"; do
    ((SECONDS < end)) || return 1
    sleep 0.5
  done
}

# manifest_of POD: prints the path of the pod's manifest, in kubelet's directory or in `aside`.
# Prints nothing if the pod has no manifest.
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

# flag POD NAME: prints the value of an argument in the pod's manifest.
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

# Sets `peers` to the peer URLs in this member's list of members. Leaves `peers` unchanged if etcd
# does not run.
ask_peers() {
  local containers said
  containers=$(running etcd) || return 1
  [[ -n $containers ]] || return 0
  said=$(etcdctl member list --consistency=s) && [[ -n $said ]] || return 1
  peers=[$(awk -F', ' '{ printf "%s\"%s\"", sep, $4; sep = ", " }' <<<"$said")]
}

# Restores the files of an archive. Copies the `*.done` files last, because these files mark the
# machine as joined.
unpack() {
  local digest=$1 file=$state/restore-archive.tgz server one
  mkdir -p "$state" "$data"
  cat >"$file"
  [[ $(sha256sum <"$file") == "$digest "* ]] || die "the archive that $(hostname) received differs from the archive in the backup; run the same command again"
  rm -rf "$unpacked"
  mkdir -p "$unpacked"
  tar -xpzf "$file" -C "$unpacked" || die "the archive cannot be unpacked on $(hostname)"
  rm -f "$file"
  systemctl stop kubelet
  # Deletes files from another archive, whose restore did not finish.
  rm -rf "$origin" "$state"/{init,join,etcd}.done "$kubernetes/pki" "$manifests"/{etcd,kube-apiserver}.yaml
  # Moves the manifests away, so that kubelet does not start etcd yet. etcd without data would
  # create a new cluster.
  mkdir -p "$aside"
  for one in etcd kube-apiserver; do
    if [[ -e $unpacked/etc/kubernetes/manifests/$one.yaml ]]; then mv -f "$unpacked/etc/kubernetes/manifests/$one.yaml" "$aside/"; fi
  done
  # Replaces the former server's ID in Nova with the new server's ID.
  server=$(</var/lib/cloud/data/instance-id)
  one=$unpacked/var/lib/kubelet/kubeadm-flags.env
  if [[ -e $one ]]; then sed -i "s#openstack:///[0-9a-f-]*#openstack:///$server#" "$one"; fi
  # kubelet copies /etc/hosts into pods when the pods start.
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

# name_api FILE: copies the lines with the API's name and address from FILE, the former server's
# /etc/hosts, to /etc/hosts.
name_api() {
  local known
  known=$(sed '/# stackadm$/d' /etc/hosts)
  { printf '%s\n' "$known" && sed -n '/# stackadm$/p' "$1"; } >/etc/hosts
}

# Dies while kubeadm runs, because kubeadm would write manifests during the restore.
require_idle() {
  local one
  for one in init join upgrade; do
    ! systemctl --quiet is-active "stackadm-$one.service" || die "kubeadm is still at work on $(hostname); run this again in some minutes"
  done
}

# Writes the snapshot's data to the disk, with etcdutl from the image of the machine's etcd.
load() {
  local token=$1 members=$2 bytes=$3 revision=$4 name url image free root=$volatile/etcd-image code=0
  require_idle
  name=$(flag etcd name) url=$(flag etcd initial-advertise-peer-urls)
  [[ ,$members, == *",$name=$url,"* ]] || die "the certificates of $(hostname) are for $url, and the machine has another address now"
  tidy
  # etcd continues to run, and a full disk would stop etcd. The reserve of 256 MiB is for logs.
  free=$(df --output=avail -B1 "$data" | tail -n 1)
  ((free > 3 * bytes + 268435456)) ||
    die "$data on $(hostname) has $((free / 1048576)) MiB left, and $((bytes * 3 / 1048576 + 257)) are needed in addition to the data"
  image=$(sed -n 's/^ *image: //p' "$(manifest_of etcd)")
  cat >"$next.db"
  mkdir -p "$root"
  pull_image 600 "$image" >&2 || [[ -n $(crictl images --quiet "$image") ]] || die "$(hostname) cannot pull $image$(print_pull_error "$image")"
  # A killed run may have left the image of another release mounted.
  ctr -n k8s.io images unmount --rm "$root" >/dev/null 2>&1 || :
  ctr -n k8s.io images mount "$image" "$root" >&2 || die "the image $image cannot be read on $(hostname)"
  make_data "$root/usr/local/bin/etcdutl" >&2 || code=$?
  ctr -n k8s.io images unmount --rm "$root" >/dev/null 2>&1 || :
  rm -f "$next.db"
  ((code == 0)) || die "the snapshot cannot be restored on $(hostname)"
}

# make_data ETCDUTL: creates the data directory from the snapshot. All members use the same snapshot
# and the same revision.
make_data() {
  local said own more
  said=$("$1" snapshot status "$next.db" --write-out=json) && own=$(sed -n 's/.*"revision":\([0-9]*\).*/\1/p' <<<"$said") && [[ -n $own ]] || return 1
  more=$((revision - own))
  # REVISION is the time of the operator's computer. If the clock is wrong, REVISION may be too low.
  ((more > 0)) || more=1000000000
  "$1" snapshot restore "$next.db" --data-dir "$next" --name "$name" \
    --initial-cluster "$members" --initial-cluster-token "$token" --initial-advertise-peer-urls "$url" \
    --bump-revision "$more" --mark-compacted && printf '%s %s\n' "$token" "$(date +%s)" >"$next/$made"
}

# Deletes loaded data that no restore uses. Also deletes former data that an unfinished restore
# created, because the backup contains these data.
tidy() { rm -rf "$next" "$next.db" "$former"; }

# gone NAME: succeeds if no container of this name runs. A running etcd would write to the moved
# data.
gone() {
  local containers
  containers=$(running "$1") && [[ -z $containers ]]
}

stop() {
  local one containers
  require_idle
  # Starts kubelet, because only kubelet stops a static pod whose manifest was removed.
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
  [[ -e $at/$made && $(<"$at/$made") == "$1 "* ]] || die "$(hostname) has no loaded data for this restore; run the same command again"
  # Skips the replacement if an earlier call replaced the data and was then killed.
  [[ $at == "$data" ]] || replace_data
  tidy
}

replace_data() {
  if [[ -e $manifests/etcd.yaml ]] || ! gone etcd; then die "etcd on $(hostname) runs again: something put its manifest back"; fi
  if is_unfinished; then
    mv "$data/member" "$former"
  elif [[ -e $data/member ]]; then
    mv "$data/member" "$data/member-before-$(date -u +%Y%m%dT%H%M%SZ)"
  fi
  mv "$next/member" "$data/member"
}

# Succeeds if a restore in the last 24 hours created the present data and did not finish. The backup
# contains these data. Older data may contain changes of clients, even if the restore failed.
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
  # Clears the alarm of a full database, with which etcd refuses writes. etcd raises the alarm again
  # if the database is still full.
  etcdctl alarm disarm >/dev/null || :
}

# Succeeds if etcd has a majority. An alarm does not block this read.
etcd_answers() { etcdctl get stackadm >/dev/null; }

start_api() {
  local container one
  put_back kube-apiserver
  systemctl start kubelet
  poll 240 api_answers || die "the API server of $(hostname) does not answer; its log says why: crictl logs"
  rmdir "$aside" 2>/dev/null || :
  # Records the end of the restore, because clients may use the restored data from now on.
  rm -f "$origin" "$data/$made"
  # Restarts components that have cached objects that are newer than the restored data.
  for container in $(running 'kube-(controller-manager|scheduler)'); do
    timeout "$((60 * factor))" crictl stop "$container" >&2 || :
  done
  systemctl restart kubelet
  renew_node || note "the node $(hostname) still describes the former machine; when webhooks answer, delete the node and restart kubelet on $(hostname)"
  # Deletes records that are newer than the restored data, so that `up` checks the cluster's
  # version.
  rm -f "$state"/kept-version "$state"/kept-upgraded
  poll 60 know_schedulable || note "$(hostname) cannot read whether pods of users may run on its node; controlPlane.schedulable may have to be changed twice"
  for one in configuration kubelet proxy; do
    if [[ -e $state/kept-$one ]]; then printf 'not finished' >"$state/kept-$one"; fi
  done
}

# locked COMMAND...: runs the command with the lock that all scripts of stackadm on this machine
# use.
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
  forget-node) forget_node "$2" || die "the API server of $(hostname) did not delete the node $2" ;;
  register) systemctl restart kubelet ;;
  *) exit 64 ;;
esac
