#!/usr/bin/env bash
# Wrapper of ebtables-nft. Version 1.8.9 cannot delete a rule with --among-src by its text
# ("RULE_DELETE failed", exit code 4). Neutron's Linux bridge agent deletes such rules when a port
# changes. After the error, the agent retries for minutes, and new servers get no network.
# This wrapper deletes such a rule by its number in the chain. All other calls pass unchanged.
set -euo pipefail
ebtables=${LAB_EBTABLES:-/usr/sbin/ebtables-nft}

if [[ " $* " != *" -D "*" --among-src "* ]]; then
  exec "$ebtables" "$@"
fi

before=()
while [[ $1 != -D ]]; do
  before+=("$1")
  shift
done
chain=$2
shift 2
rule="$*"

number=$("$ebtables" "${before[@]}" -L "$chain" |
  sed -e '1,/^Bridge chain: /d' -e 's/ *$//' |
  awk -v rule="$rule" '$0 == rule { print NR; exit }')
# If the chain does not have the rule, there is nothing to delete.
[[ -z $number ]] || exec "$ebtables" "${before[@]}" -D "$chain" "$number"
