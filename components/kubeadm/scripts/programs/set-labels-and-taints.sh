# shellcheck shell=bash disable=SC2154
# Installed on control planes as /usr/local/sbin/stackadm-marks. Sets the labels and taints of
# groups on their nodes, from a ConfigMap (keep-marks.sh): a node that registers again has none, and
# kubelet may not set all of them itself.
# An annotation on a node records what was set. A node with the wanted record is not changed, so
# that manual changes are kept until other labels or taints are wanted.
set -euo pipefail
export KUBECONFIG=/etc/kubernetes/admin.conf
readonly annotation=stackadm.io/marks

print_wanted() {
  local prefix marks
  while read -r prefix marks; do
    if [[ -n $prefix && ${1%-*} == "$prefix" ]]; then
      printf '%s' "$marks"
      return
    fi
  done <<<"$rows"
}

# entries LIST: prints one entry per line; `-` is an empty list.
entries() { if [[ $1 != - ]]; then tr ',' '\n' <<<"$1"; fi; }

# print_removals FORMER PRESENT: prints `NAME-`, kubectl's word for removal, for each former name
# that is not present.
print_removals() {
  local name
  while read -r name; do
    [[ -z $name ]] || grep -qxF -- "$name" <<<"$2" || printf '%s-\n' "$name"
  done <<<"$1"
}

names() { entries "$1" | sed 's/=.*//'; }
taint_names() { entries "$1" | sed 's/=[^:]*:/:/'; }

# change_node NODE FORMER PRESENT: replaces labels and taints. FORMER and PRESENT are "LABELS
# TAINTS".
change_node() {
  local former_labels former_taints labels taints one words=()
  read -r former_labels former_taints <<<"${2:-- -}"
  read -r labels taints <<<"${3:-- -}"
  mapfile -t words < <(
    print_removals "$(names "$former_labels")" "$(names "$labels")"
    entries "$labels"
  )
  ((${#words[@]} == 0)) || run_kubectl label node "$1" --overwrite "${words[@]}" || return 1
  # Fails for a taint that was removed by hand, which is no error.
  while read -r one; do
    [[ -z $one ]] || run_kubectl taint node "$1" "$one" || :
  done < <(print_removals "$(taint_names "$former_taints")" "$(taint_names "$taints")")
  mapfile -t words < <(entries "$taints")
  ((${#words[@]} == 0)) || run_kubectl taint node "$1" --overwrite "${words[@]}" || return 1
  if [[ -n $3 ]]; then run_kubectl annotate node "$1" --overwrite "$annotation=$3"; else run_kubectl annotate node "$1" "$annotation-"; fi
}

run_kubectl() { timeout "$((20 * factor))" kubectl "$@" >/dev/null; }

# Exits here if the API does not answer: that does not mean that nothing is wanted.
rows=$(timeout "$((20 * factor))" kubectl -n kube-system get configmap stackadm-marks --ignore-not-found -o 'jsonpath={.data.rows}')
# A node can write anything into its annotations. So the value is quoted, which makes it one line,
# and counts only in the form of labels and taints.
nodes=$(timeout "$((20 * factor))" kubectl get nodes -o 'go-template={{range .items}}{{.metadata.name}} {{if .metadata.annotations}}{{with index .metadata.annotations "stackadm.io/marks"}}{{printf "%q" .}}{{end}}{{end}}{{"\n"}}{{end}}')
readonly one_mark='[A-Za-z0-9][A-Za-z0-9._/=:-]*'
readonly list="(-|$one_mark(,$one_mark)*)"
code=0
while read -r node former; do
  [[ -n $node ]] || continue
  [[ $former =~ ^\"($list\ $list)\"$ ]] && former=${BASH_REMATCH[1]} || former=
  present=$(print_wanted "$node")
  # In a subshell, so that a node that is deleted meanwhile does not stop the others.
  if [[ $former != "$present" ]]; then (change_node "$node" "$former" "$present") </dev/null || code=1; fi
done <<<"$nodes"
exit "$code"
