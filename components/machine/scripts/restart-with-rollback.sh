# shellcheck shell=bash disable=SC2154
# Functions that apply a new configuration to a component of Kubernetes and wait until it is
# healthy. Library of the scripts that follow.

# Seconds: how long a restarted component must be healthy, how long it may take until then, and how
# long its former configuration may take.
readonly well_for=5 well_within=180 back_within=240

# Record of the configuration that was applied last. `begin` marks it as not finished, so that the
# next run starts again after an interruption.
# is_kept NAME TEXT, begin NAME, keep NAME TEXT
is_kept() { if [[ -z $2 ]]; then [[ ! -e $state/kept-$1 ]]; else holds "$state/kept-$1" "$2"; fi; }
begin() { write "$state/kept-$1" 0600 'not finished'; }
keep() { if [[ -n $2 ]]; then write "$state/kept-$1" 0600 "$2"; else rm -f "$state/kept-$1"; fi; }

# comes_up COMMAND..., is_back COMMAND...: wait until the command succeeds for `well_for` seconds.
comes_up() { steady "$well_within" "$@"; }
is_back() { steady "$back_within" "$@"; }
steady() {
  since=''
  poll "$1" well_since "${@:2}"
}

well_since() {
  if ! "$@"; then
    since=''
    return 1
  fi
  : "${since:=$SECONDS}"
  ((SECONDS - since >= well_for))
}

# complaint [end]: prints the last line of a component's log that says why it ended; without `end`,
# or else the last error, or else the last line. At most 300 characters.
complaint() {
  awk -v ends="${1:-}" '
    /^Error: |^panic: |"command failed"/ { end = $0 }
    /^[EF][0-9][0-9][0-9][0-9] / { error = $0 }
    NF { last = $0 }
    END {
      said = end != "" || ends != "" ? end : error != "" ? error : last
      sub(/^[IWEF][0-9][0-9][0-9][0-9] [^]]*\] /, "", said)
      print substr(said, 1, 300)
    }'
}

# same_file ONE OTHER: succeeds if both files have the same content.
same_file() { cmp -s "$1" "$2"; }

# lacking FIELDS-FILE: prints the fields of the document on standard input that the file lacks.
# kubeadm omits fields that it does not know, and empty ones, so empty fields are not compared.
lacking() {
  local field
  awk -F: '/^[A-Za-z]/ && !/^(apiVersion|kind):/ && !/: *(false|0|0s|""|null|\{\}|\[\])$/ { print $1 }' |
    while read -r field; do grep -q "^$field:" "$1" || printf '%s ' "$field"; done
}
