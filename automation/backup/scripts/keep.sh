#!/bin/bash
# Prints what is to be kept of a machine, and changes nothing on it.
# snapshot: of etcd, as etcdctl saves it: its last 32 bytes are the SHA-256 of all before. Any member can give one, also without a majority.
# archive: the files of a control plane or of a machine of etcd's own, as tar.gz.
set -euo pipefail
umask 077
readonly pki=/etc/kubernetes/pki/etcd data=/var/lib/etcd volatile=/run/stackadm
readonly file=$data/stackadm-snapshot.db

die() {
  printf 'reason: %s\n' "$*" >&2
  exit 1
}

snapshot() {
  local container free size
  container=$(timeout 20 crictl ps --quiet --state running --name '^etcd$') || die "what runs on $(hostname) cannot be asked"
  [[ -n $container ]] || die "no etcd runs on $(hostname)"
  mkdir -p "$volatile"
  exec 9>"$volatile/snapshot"
  flock -n 9 || die "another snapshot is being taken on $(hostname)"
  # A disk that is full would end etcd.
  size=$(du -sb "$data/member/snap" | cut -f 1)
  free=$(df --output=avail -B1 "$data" | tail -n 1)
  ((free > size + size / 2)) || die "$data on $(hostname) has $((free / 1048576)) MiB left, too little for a snapshot beside the data"
  trap 'rm -f "$file" "$file.part"' EXIT
  timeout 600 crictl exec "${container%%$'\n'*}" etcdctl --endpoints=https://127.0.0.1:2379 \
    --cacert="$pki/ca.crt" --cert="$pki/server.crt" --key="$pki/server.key" snapshot save "$file" >&2 ||
    die "etcd on $(hostname) gives no snapshot"
  cat "$file"
}

archive() {
  local one present=() code=0
  for one in /etc/kubernetes /var/lib/stackadm /var/lib/kubelet/{config.yaml,kubeadm-flags.env,pki}; do
    [[ ! -e $one ]] || present+=("$one")
  done
  [[ -d /etc/kubernetes/pki ]] || die "$(hostname) has no authority: it is no control plane, and no member of etcd"
  # 1: a file changed while it was read.
  tar -czf - --exclude=/var/lib/stackadm/server --exclude=/var/lib/stackadm/restore "${present[@]}" || code=$?
  ((code <= 1)) || die "the files of $(hostname) cannot be read"
}

case ${1:-} in
  snapshot | archive) "$1" ;;
  *) exit 64 ;;
esac
