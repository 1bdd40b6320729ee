# shellcheck shell=bash
# Refuses changes of values that an existing cluster cannot change. The program has already checked
# the values (components/lifecycle/immutable-values.ts). The file on the machine also protects a
# cluster whose Pulumi state is lost. Library of control-plane.sh.
# Values: FROZEN, lines `path value`.

readonly frozen_file=$state/frozen proxy_mode=kubernetes.kubeProxy.mode

# Records the values with which this machine starts or joins a cluster. Runs before kubeadm, so that
# the record exists even if kubeadm is interrupted.
freeze() { write "$frozen_file" 0600 "$FROZEN"$'\n'; }

# Dies with a list of all values that differ from the record. Ignores paths that only the record or
# only FROZEN contains. Records new paths.
keep_frozen() {
  local path value wrong='' given=$FROZEN
  local -A kept=()
  # A mode of kube-proxy that is not recorded, or not in FROZEN, is iptables.
  [[ $'\n'$FROZEN == *$'\n'"$proxy_mode "* ]] || given+=$'\n'"$proxy_mode iptables"
  if [[ -e $frozen_file ]]; then
    while read -r path value; do kept[$path]=$value; done <"$frozen_file"
    [[ -n ${kept[$proxy_mode]-} ]] || kept[$proxy_mode]=iptables
  fi
  while read -r path value; do
    if [[ -z ${kept[$path]+there} || ${kept[$path]} == "$value" ]]; then
      kept[$path]=$value
    else
      wrong+="; cluster.$path: ${kept[$path]} cannot become $value"
    fi
  done <<<"$given"
  [[ ${kept[$proxy_mode]-} != iptables ]] || unset "kept[$proxy_mode]"
  [[ -z $wrong ]] ||
    die_as INVALID_CONFIG "a living cluster keeps its values${wrong/;/:}; write the former values again, or destroy the cluster and create it again"
  for path in "${!kept[@]}"; do printf '%s %s\n' "$path" "${kept[$path]}"; done | sort | write "$frozen_file" 0600
}
