# shellcheck shell=bash disable=SC2154
# What a living cluster keeps, a line each: `path value`. The program refuses another value before anything changes
# (components/frozen-values.ts); the machine has the last word, as its file outlives every state.
# Read by the scripts that come after this one. Values: FROZEN.

readonly frozen_file=$state/frozen

# freeze: this machine begins or joins a cluster with these values. Before kubeadm does it, so that a machine that was
# interrupted knows what it was made with.
freeze() { write "$frozen_file" 0600 "$FROZEN"$'\n'; }

# keep_frozen: dies with every value that differs. A path that only one side has never does; a new one is kept from now on.
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
  # An earlier release kept it, which upgraded nothing.
  unset 'kept[kubernetes.version]'
  [[ -z $wrong ]] ||
    die_as INVALID_CONFIG "a living cluster keeps its values${wrong/;/:}; write the former values again, or destroy the cluster and create it again"
  for path in "${!kept[@]}"; do printf '%s %s\n' "$path" "${kept[$path]}"; done | sort | write "$frozen_file" 0600
}

# Fields of an object count in any order: earlier releases wrote them as they stood in the specification.
same_value() { [[ $1 == "$2" || $(fields "$1") == "$(fields "$2")" ]]; }

fields() { tr '{,}' '\n' <<<"$1" | sort; }
