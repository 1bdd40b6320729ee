# shellcheck shell=bash disable=SC2154
# Functions that apply a new configuration to a component of Kubernetes and wait until it is
# healthy. Library of the scripts that follow.

# Seconds: how long a restarted component must be healthy, how long it may take until then, and how
# long its former configuration may take.
readonly stable_seconds=5 start_seconds=180 restore_seconds=240

# Record of the configuration that was applied last. `record_unfinished` marks it as not finished,
# so that the next run starts again after an interruption.
# is_recorded NAME TEXT, record_unfinished NAME, record_applied NAME TEXT
is_recorded() { if [[ -z $2 ]]; then [[ ! -e $state/kept-$1 ]]; else file_equals "$state/kept-$1" "$2"; fi; }
record_unfinished() { write "$state/kept-$1" 0600 'not finished'; }
record_applied() { if [[ -n $2 ]]; then write "$state/kept-$1" 0600 "$2"; else rm -f "$state/kept-$1"; fi; }

# wait_until_healthy COMMAND..., wait_until_restored COMMAND...: wait until the command succeeds for
# `stable_seconds` seconds.
wait_until_healthy() { wait_until_stable "$start_seconds" "$@"; }
wait_until_restored() { wait_until_stable "$restore_seconds" "$@"; }
wait_until_stable() {
  stable_since=''
  poll "$1" is_stable "${@:2}"
}

is_stable() {
  if ! "$@"; then
    stable_since=''
    return 1
  fi
  : "${stable_since:=$SECONDS}"
  ((SECONDS - stable_since >= stable_seconds))
}

# print_last_error [end]: prints the last line of a component's log that says why it ended; without
# `end`, or else the last error, or else the last line. At most 300 characters.
print_last_error() {
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

# print_missing_fields FIELDS-FILE: prints the fields of the document on standard input that the
# file lacks. kubeadm omits fields that it does not know, and empty ones, so empty fields are not
# compared.
print_missing_fields() {
  local field
  awk -F: '/^[A-Za-z]/ && !/^(apiVersion|kind):/ && !/: *(false|0|0s|""|null|\{\}|\[\])$/ { print $1 }' |
    while read -r field; do grep -q "^$field:" "$1" || printf '%s ' "$field"; done
}
