#!/bin/sh
# Runs in the sample writer: writes a line to its volume and reads it back.
# Reads: POD_NAME, DATA_DIRECTORY. Result: one line on standard output, and the file
# $DATA_DIRECTORY/proof.
set -eu
: "${POD_NAME:?}" "${DATA_DIRECTORY:?}"

written="written by ${POD_NAME} on $(date -u +%Y-%m-%dT%H:%M:%SZ)"
printf '%s\n' "$written" >>"$DATA_DIRECTORY/proof"
sync

read_back=$(tail -n 1 "$DATA_DIRECTORY/proof")
if [ "$read_back" != "$written" ]; then
  echo "wrote \"$written\" but read \"$read_back\"" >&2
  exit 1
fi
echo "read back: $read_back"
# Ready only now: the readiness probe checks this file, which is deleted with the container.
: >/tmp/proven
exec /agnhost pause
