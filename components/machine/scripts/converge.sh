# shellcheck shell=bash disable=SC2154
# What a change of Kubernetes' own configuration is made of, whatever it changes. Read by the scripts that come after this one.

# How long what was started has to be well before it counts, how long it may take, and how long its former self may.
readonly well_for=5 well_within=180 back_within=240

# What this machine was given last; what is begun and not kept is none of it, so that the next run begins again.
# is_kept NAME TEXT, begin NAME, keep NAME TEXT
is_kept() { if [[ -z $2 ]]; then [[ ! -e $state/kept-$1 ]]; else holds "$state/kept-$1" "$2"; fi; }
begin() { write "$state/kept-$1" 0600 'not finished'; }
keep() { if [[ -n $2 ]]; then write "$state/kept-$1" 0600 "$2"; else rm -f "$state/kept-$1"; fi; }

# comes_up COMMAND..., is_back COMMAND...: it succeeds in time, and goes on to.
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

# complaint [end]: of a component's log the last line that says why it ended; without `end` else the last error, else the last line.
# 300 characters at most.
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

# same_file ONE OTHER
same_file() { cmp -s "$1" "$2"; }

# lacking FIELDS-FILE: of a document on standard input the fields that the file does not have. kubeadm leaves out what it does not
# know, and what is nothing.
lacking() {
  local field
  awk -F: '/^[A-Za-z]/ && !/^(apiVersion|kind):/ && !/: *(false|0|0s|""|null|\{\}|\[\])$/ { print $1 }' |
    while read -r field; do grep -q "^$field:" "$1" || printf '%s ' "$field"; done
}
