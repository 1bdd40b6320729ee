#!/usr/bin/env bash
# wait-for-ports.sh PORT...: waits until a process listens on each port. The start timeout of the
# systemd unit limits the wait. The script reads the kernel's tables, because many units wait at the
# same time, and repeated starts of `ss` would keep a CPU core busy.
set -euo pipefail

listens() {
  local wanted table address state
  printf -v wanted ':%04X' "$1"
  for table in /proc/net/tcp /proc/net/tcp6; do
    while read -r _ address _ state _; do
      # 0A is TCP_LISTEN.
      [[ $state == 0A && $address == *"$wanted" ]] && return 0
    done <"$table"
  done
  return 1
}

for port in "$@"; do
  until listens "$port"; do
    sleep 0.5
  done
done
