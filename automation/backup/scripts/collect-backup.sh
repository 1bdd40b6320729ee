#!/bin/bash
# Prints one part of a machine's backup. Leaves no files on the machine.
# standing: prints {"majority", "index"}: whether the etcd member reaches a majority of members, and
#   the member's Raft index.
# snapshot: prints an etcd snapshot in the format of etcdctl. The last 32 bytes are the SHA-256 of
#   all preceding bytes. Also works without a majority.
# archive POD...: prints the files of a machine as tar.gz. POD is a static pod of the machine: etcd
#   or kube-apiserver.
set -euo pipefail
umask 077
readonly pki=/etc/kubernetes/pki/etcd data=/var/lib/etcd volatile=/run/stackadm
readonly kubernetes=/etc/kubernetes state=/var/lib/stackadm
# The machine's timeout factor (components/remote-scripts/scripts/common.sh).
factor=1
[[ ! -r $state/timeout-factor ]] || read -r factor <"$state/timeout-factor" || :
[[ $factor =~ ^[1-9][0-9]?$ ]] || factor=1
# The name contains the process ID, because an etcdctl of a killed run may still write to the former
# run's file.
readonly file=$data/stackadm-snapshot-$$.db

die() {
  printf 'reason: %s\n' "$*" >&2
  exit 1
}

# Sets `container` to the ID of the running etcd container.
find_etcd() {
  container=$(timeout "$((20 * factor))" crictl ps --quiet --state running --name '^etcd$') || die "crictl on $(hostname) cannot list the containers"
  [[ -n $container ]] || die "no etcd runs on $(hostname)"
  container=${container%%$'\n'*}
}

# etcdctl SECONDS WORD...: runs etcdctl in the container, for at most SECONDS times `factor`.
etcdctl() {
  local seconds=$1
  shift
  timeout "$((seconds * factor))" crictl exec "$container" etcdctl --endpoints=https://127.0.0.1:2379 \
    --cacert="$pki/ca.crt" --cert="$pki/server.crt" --key="$pki/server.key" "$@"
}

standing() {
  local container majority=false said index
  find_etcd
  # etcd answers this request only with a majority.
  if etcdctl 20 get stackadm >/dev/null 2>&1; then majority=true; fi
  said=$(etcdctl 20 endpoint status --write-out=json) || die "etcd on $(hostname) does not answer"
  index=$(sed -n 's/.*"raftIndex":\([0-9]*\).*/\1/p' <<<"$said")
  printf '{"majority": %s, "index": %s}\n' "$majority" "${index:-0}"
}

snapshot() {
  local container free size
  find_etcd
  mkdir -p "$volatile"
  exec 9>"$volatile/snapshot"
  flock -n 9 || die "another snapshot is being taken on $(hostname)"
  # Deletes files of killed runs.
  rm -f "$data"/stackadm-snapshot*
  # A full disk would stop etcd. `du` may fail, because etcd deletes files while `du` counts.
  size=$(du -sb "$data/member/snap" 2>/dev/null | cut -f 1) || :
  free=$(df --output=avail -B1 "$data" | tail -n 1) || :
  [[ -n $size && -n $free ]] || die "$(hostname) cannot determine the size of etcd's data and the free space in $data"
  ((free > size + size / 2)) || die "$data on $(hostname) has $((free / 1048576)) MiB left, too little for a snapshot in addition to the data"
  trap 'rm -f "$file" "$file.part"' EXIT
  etcdctl 3600 snapshot save "$file" >&2 || die "etcd on $(hostname) did not write a snapshot"
  cat "$file"
}

# Prints an archive of the files from which a recreated machine is restored. Holds the lock of the
# machine, so that no script of `up` runs at the same time.
archive() {
  local one present=() code=0
  mkdir -p "$volatile"
  exec 9>"$volatile/lock"
  flock -w "$((300 * factor))" 9 || die "another step is still running on $(hostname)"
  compgen -G "$state/*.done" >/dev/null || die "$(hostname) has not joined the cluster yet"
  for one in "$@"; do
    require "$kubernetes/manifests/$one.yaml"
    case $one in
      etcd) require "$pki/ca.key" ;;
      *) require "$kubernetes/pki/ca.key" ;;
    esac
  done
  for one in "$kubernetes" /etc/hosts "$state" /var/lib/kubelet/{config.yaml,kubeadm-flags.env,pki}; do
    [[ ! -e $one ]] || present+=("$one")
  done
  # Excludes `tmp`, where kubeadm stores a copy of etcd's data during an upgrade. tar exits with
  # code 1 if a file changed while tar read the file.
  tar -czf - --exclude="$kubernetes/tmp" --exclude="$state/server" --exclude="$state/restore*" "${present[@]}" || code=$?
  ((code <= 1)) || die "the files of $(hostname) cannot be read"
}

require() { [[ -s $1 ]] || die "$(hostname) has no $1, without which a backup cannot restore the machine"; }

case ${1:-} in
  standing | snapshot | archive) "$@" ;;
  *) exit 64 ;;
esac
