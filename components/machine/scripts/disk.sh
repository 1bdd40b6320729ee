# shellcheck shell=bash disable=SC2154
# How fast the disk of etcd makes small writes durable. Read by the scripts that come after this one.
# Values: ETCD_DISK, where etcd will have its data; empty on machines without it.

# etcd's own recommendation, in milliseconds, for 99 of 100 writes.
readonly fast_enough=10

# measure_disk: before anything else writes there, and never beside an etcd that runs. A slow disk is said, not refused.
measure_disk() {
  local slowest
  [[ -n $ETCD_DISK && ! -d $ETCD_DISK/member ]] || return 0
  mkdir -p "$ETCD_DISK"
  chmod 0700 "$ETCD_DISK"
  slowest=$(timeout 20 python3 -c "$sync_latency" "$ETCD_DISK/.latency") || slowest=''
  rm -f "$ETCD_DISK/.latency"
  if [[ $slowest =~ ^[0-9]+$ ]] && ((slowest > fast_enough)); then
    printf 'note: the disk of %s is slow for etcd: 1 of 100 small writes takes %s ms or longer to be durable, and more than %s ms make the cluster unsteady; choose a flavor or volume with faster writes\n' \
      "$(hostname)" "$slowest" "$fast_enough" >&3
  fi
}

# Writes of the size of those in etcd's log, for a second and at least 20; prints how many milliseconds 99 of 100 of them needed.
# cloud-init brings python3.
readonly sync_latency='
import os, sys, time
file = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
begin, took = time.monotonic(), []
while len(took) < 20 or time.monotonic() - begin < 1:
    before = time.monotonic()
    os.write(file, b"x" * 2300)
    os.fdatasync(file)
    took.append(time.monotonic() - before)
print(round(1000 * sorted(took)[round(0.99 * (len(took) - 1))]))
'
