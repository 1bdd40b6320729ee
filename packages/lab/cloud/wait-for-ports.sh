#!/usr/bin/env bash
# wait-for-ports.sh PORT...: returns when something listens on every port. The unit's start timeout bounds it.
# Reads the kernel's tables itself: a dozen units wait at once, and starting `ss` again and again costs them a core.
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
