# shellcheck shell=bash
# Measures how long etcd's disk takes to make small writes durable. Library of prepare.sh.
# Values: ETCD_DISK, the data directory of etcd; empty on machines without etcd.

# Milliseconds within which 99 of 100 writes should be durable, as etcd recommends.
readonly fast_enough=10

# Reports a slow disk, but does not refuse the machine. Runs before other programs write to the
# disk, and never while etcd runs.
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

# Python program (cloud-init brings python3) that writes like etcd's log, for a second and at least
# 20 times. Prints the milliseconds within which 99 of 100 writes were durable.
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
