#!/usr/bin/env bash
# Stands before ebtables-nft. Version 1.8.9 cannot delete a rule with --among-src by its text ("RULE_DELETE failed",
# exit code 4), which Neutron's Linux bridge agent does whenever a port changes: it then tries again for minutes and
# no new server gets its network. Such a rule is deleted by its number in the chain; all else passes unchanged.
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
# No such rule: what the caller wants is already so.
[[ -z $number ]] || exec "$ebtables" "${before[@]}" -D "$chain" "$number"
