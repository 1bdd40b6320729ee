# shellcheck shell=bash disable=SC2154
# What a living cluster cannot change. Read by the scripts that come after this one. Values: FROZEN.

keep_frozen() {
  local changed
  printf '%s\n' "$FROZEN" >"$volatile/frozen"
  if cmp -s "$state/frozen" "$volatile/frozen"; then return; fi
  changed=$({ diff "$state/frozen" "$volatile/frozen" || :; } | grep '^[<>]' | tr '\n' ' ')
  die_as INVALID_CONFIG "a living cluster keeps these values (< is what it has, > is what was written): $changed"
}
