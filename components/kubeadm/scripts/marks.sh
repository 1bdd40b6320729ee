# shellcheck shell=bash disable=SC2154
# Lies on control planes as /usr/local/sbin/stackadm-marks. Gives the nodes the labels and taints of their groups, which the
# cluster itself keeps (keep-marks.sh): a node that registers anew has none of them, and kubelet may not set all of them itself.
# What a node was given stands in an annotation on it. Where that says what is wanted nothing is done, so that what somebody
# changes by hand stays until something else is wanted.
set -euo pipefail
export KUBECONFIG=/etc/kubernetes/admin.conf
readonly annotation=stackadm.io/marks

wanted_on() {
  local prefix marks
  while read -r prefix marks; do
    if [[ -n $prefix && ${1%-*} == "$prefix" ]]; then
      printf '%s' "$marks"
      return
    fi
  done <<<"$rows"
}

# entries LIST: one on each line.
entries() { if [[ $1 != - ]]; then tr ',' '\n' <<<"$1"; fi; }

# gone FORMER PRESENT: names of the former entries that no present one has.
gone() {
  local name
  while read -r name; do
    [[ -z $name ]] || grep -qxF -- "$name" <<<"$2" || printf '%s-\n' "$name"
  done <<<"$1"
}

names() { entries "$1" | sed 's/=.*//'; }
taint_names() { entries "$1" | sed 's/=[^:]*:/:/'; }

# change NODE FORMER PRESENT: each "LABELS TAINTS".
change() {
  local former_labels former_taints labels taints one words=()
  read -r former_labels former_taints <<<"${2:-- -}"
  read -r labels taints <<<"${3:-- -}"
  mapfile -t words < <(
    gone "$(names "$former_labels")" "$(names "$labels")"
    entries "$labels"
  )
  ((${#words[@]} == 0)) || ask label node "$1" --overwrite "${words[@]}" || return 1
  # One that somebody took away is none to fail about.
  while read -r one; do
    [[ -z $one ]] || ask taint node "$1" "$one" || :
  done < <(gone "$(taint_names "$former_taints")" "$(taint_names "$taints")")
  mapfile -t words < <(entries "$taints")
  ((${#words[@]} == 0)) || ask taint node "$1" --overwrite "${words[@]}" || return 1
  if [[ -n $3 ]]; then ask annotate node "$1" --overwrite "$annotation=$3"; else ask annotate node "$1" "$annotation-"; fi
}

ask() { timeout "$((20 * factor))" kubectl "$@" >/dev/null; }

# Who cannot be asked has not said that nothing is wanted.
rows=$(timeout "$((20 * factor))" kubectl -n kube-system get configmap stackadm-marks --ignore-not-found -o 'jsonpath={.data.rows}')
# A node may write what it likes into its annotations: quoted, it is one line, and only what a mark can look like counts.
nodes=$(timeout "$((20 * factor))" kubectl get nodes -o 'go-template={{range .items}}{{.metadata.name}} {{if .metadata.annotations}}{{with index .metadata.annotations "stackadm.io/marks"}}{{printf "%q" .}}{{end}}{{end}}{{"\n"}}{{end}}')
readonly one_mark='[A-Za-z0-9][A-Za-z0-9._/=:-]*'
readonly list="(-|$one_mark(,$one_mark)*)"
code=0
while read -r node former; do
  [[ -n $node ]] || continue
  [[ $former =~ ^\"($list\ $list)\"$ ]] && former=${BASH_REMATCH[1]} || former=
  present=$(wanted_on "$node")
  # In a shell of its own: one node that goes away at this moment keeps no other from its marks.
  if [[ $former != "$present" ]]; then (change "$node" "$former" "$present") </dev/null || code=1; fi
done <<<"$nodes"
exit "$code"
