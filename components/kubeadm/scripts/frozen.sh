# shellcheck shell=bash disable=SC2154
# Refuses changes of values that a cluster keeps for life. The program checks them first
# (components/frozen-values.ts); the file on the machine also protects a cluster whose state is
# lost. Put before the scripts that use it.
# Values: FROZEN, lines `path value`.

readonly frozen_file=$state/frozen

# freeze: records the values with which this machine begins or joins a cluster. Called before
# kubeadm, so that the record exists after an interruption.
freeze() { write "$frozen_file" 0600 "$FROZEN"$'\n'; }

# keep_frozen: dies if a value differs, and lists all that do. A path that only one side has is no
# difference; a new one is recorded.
keep_frozen() {
  local path value wrong=''
  local -A kept=()
  if [[ -e $frozen_file ]]; then
    while read -r path value; do kept[$path]=$value; done <"$frozen_file"
  fi
  while read -r path value; do
    if [[ -z ${kept[$path]+there} ]] || same_value "${kept[$path]}" "$value"; then
      kept[$path]=$value
    else
      wrong+="; cluster.$path: ${kept[$path]} cannot become $value"
    fi
  done <<<"$FROZEN"
  # Recorded by a release that had no upgrades.
  unset 'kept[kubernetes.version]'
  [[ -z $wrong ]] ||
    die_as INVALID_CONFIG "a living cluster keeps its values${wrong/;/:}; write the former values again, or destroy the cluster and create it again"
  for path in "${!kept[@]}"; do printf '%s %s\n' "$path" "${kept[$path]}"; done | sort | write "$frozen_file" 0600
}

# Compares two values, with the fields of an object in any order: earlier releases kept the order of
# the specification.
same_value() { [[ $1 == "$2" || $(fields "$1") == "$(fields "$2")" ]]; }

fields() { tr '{,}' '\n' <<<"$1" | sort; }
