# shellcheck shell=bash
# Functions of every script that runs on a machine. Always the first part of the text that `bash -s`
# reads from standard input. All code is in functions, and the last line of the text calls
# `run_step`, which closes standard input for the commands.
set -Eeuo pipefail
umask 022
# Stores the failed command, for a script that ends without a message. BASH_COMMAND contains the
# command before expansion, so it contains no values and no secrets.
trap 'failed_command=$BASH_COMMAND' ERR

# The image may set proxies in /etc/environment. kubectl and curl would then send requests to the
# cluster to a proxy. Downloads use the proxy of network.proxy.
unset {http,https,ftp,all,no}_proxy {HTTP,HTTPS,FTP,ALL,NO}_PROXY

readonly state=/var/lib/stackadm
readonly volatile=/run/stackadm

# Factor that multiplies every time limit on this machine. prepare.sh writes the factor to
# `timeout-factor` (machine/scripts/prepare/check-host.sh). Without this file, the factor is 1.
factor=1
[[ ! -r $state/timeout-factor ]] || read -r factor <"$state/timeout-factor" || :
[[ $factor =~ ^[1-9][0-9]?$ ]] || factor=1

# say TEXT...: prints progress for the user on standard error. Standard output is for the result.
say() { printf '%s\n' "$*" >&3; }

# print_result NAME VALUE [NAME VALUE]...: prints the result as a JSON object on a separate line.
# The line has a mark, because the login shell may print a greeting on standard output
# (remote-scripts/script-result.ts). VALUE must contain no quotes and no backslashes.
print_result() {
  local json=''
  while (($# > 0)); do
    json+="${json:+, }\"$1\": \"$2\""
    shift 2
  done
  printf '\n@stackadm {%s}\n' "$json" >&4
}

# die SENTENCE: ends the script with this reason. Writes the sentence to a file, so that
# `report_failure` also reports a reason from a subshell. `report_failure` cannot read the reason
# from the log, because the log contains the output of all programs.
die() {
  printf '%s\n' "${*//$'\n'/ }" >"$reason_file"
  printf 'reason: %s\n' "${*//$'\n'/ }" >&2
  exit 1
}

# die_as CODE SENTENCE: ends the script with a failure code from base/failures/failure-codes.ts
# instead of COMMAND_FAILED.
die_as() { die "[$1] ${*:2}"; }

# require NAME...: dies unless all these values are set and not empty.
require() {
  local name
  for name in "$@"; do
    [[ -n ${!name:-} ]] || die "the value $name is missing"
  done
}

# poll SECONDS COMMAND...: repeats a command until it succeeds, for at most SECONDS times `factor`.
poll() {
  local end=$((SECONDS + $1 * factor))
  shift
  until "$@"; do
    ((SECONDS < end)) || return 1
    sleep 0.3
  done
}

# write FILE [MODE [TEXT]]: replaces a file atomically with the text, or without TEXT with standard
# input. Sets `changed` to yes or no.
# shellcheck disable=SC2034 # `changed` is read by the scripts that come after this one
write() {
  local file=$1 mode=${2:-0644} new=$1.new.$BASHPID mask
  [[ -d ${file%/*} ]] || mkdir -p "${file%/*}" || die "cannot write $file"
  # Deletes a file with this name from a killed run, because such a file would keep its mode.
  [[ ! -e $new ]] || rm -f "$new"
  # Sets the mode when the file is created, so that only users who may read the final file can read
  # the new file. `install` would do the same only in its GNU variant.
  printf -v mask '%04o' $((0777 & ~8#$mode))
  umask "$mask"
  changed=yes
  if (($# > 2)); then
    printf '%s' "$3" >"$new" || die "cannot write $file"
    ! file_equals "$file" "$3" || changed=no
  else
    cat >"$new" || die "cannot write $file"
    [[ ! -e $file ]] || ! cmp -s "$new" "$file" || changed=no
  fi
  umask 022
  # New files have no executable bits, with any umask.
  [[ $mode != *[1357]* ]] || chmod "$mode" "$new" || die "cannot write $file"
  mv -f "$new" "$file" || die "cannot write $file"
}

# file_equals FILE TEXT: succeeds if the file contains exactly this text.
file_equals() {
  local now
  [[ -e $1 ]] || return 1
  IFS= read -rd '' now <"$1" || :
  [[ $now == "$2" ]]
}

# Prints the time limit for waits of kubeadm. kubeadm's defaults are 1 to 5 minutes. A longer time
# limit costs nothing if nothing fails.
kubeadm_timeout() { printf '%ss' "$((240 * factor))"; }

# Succeeds if kubeadm has left files on this machine.
has_kubeadm_files() {
  [[ -e /etc/kubernetes/kubelet.conf || -e /etc/kubernetes/bootstrap-kubelet.conf ]] ||
    [[ -d /etc/kubernetes/pki || -d /var/lib/etcd/member ]] ||
    compgen -G '/etc/kubernetes/manifests/*.yaml' >/dev/null
}

# unit_state NAME: prints the state of a systemd unit of this program. A unit continues after the
# SSH connection ends: the next run waits for the unit and starts no other unit.
unit_state() { systemctl show --value -p ActiveState "stackadm-$1.service"; }

unit_running() {
  case $(unit_state "$1") in
    active | activating | deactivating) return 0 ;;
    *) return 1 ;;
  esac
}

unit_ended() { ! unit_running "$1"; }

# start_unit NAME SECONDS COMMAND...: starts the command in a systemd unit, with a time limit of
# SECONDS times `factor`, and returns when the command runs. Do not add `--no-block`: a queued unit
# is inactive, so wait_unit would return at once.
start_unit() {
  local unit=stackadm-$1.service limit=$2
  shift 2
  systemctl reset-failed "$unit" 2>/dev/null || :
  systemd-run --quiet --collect --unit "$unit" --service-type=exec \
    -p RuntimeMaxSec="$((limit * factor))" -p StandardOutput="append:$log" -p StandardError="append:$log" "$@"
}

# wait_unit NAME SECONDS: waits for the end of a unit. Dies after SECONDS times `factor`.
wait_unit() { poll "$2" unit_ended "$1" || die "$1 did not end within $(($2 * factor)) s"; }

# Prints the part of the log that this run has written.
print_log_of_run() { awk '/^--- [0-9]/ { n = 0 } { line[n++] = $0 } END { for (i = 0; i < n; i++) print line[i] }' "$log"; }

# print_tool_error kubeadm|apt: prints ": " and the error that the tool printed in this run, or
# nothing.
print_tool_error() {
  local said=''
  case $1 in
    kubeadm) said=$(print_log_of_run | awk '
      /^[ \t]*\[ERROR / { sub(/^[ \t]+/, ""); checks = checks (checks == "" ? "" : "; ") $0 }
      /^error/ && first == "" { first = $0; sub(/^error: /, "", first) }
      END { print (checks == "" ? first : checks) }') ;;
    # Takes the first line of the last group of errors: later lines are advice, and earlier errors
    # were retried. For an unusable repository, the line after the repository's address contains the
    # reason.
    apt) said=$(print_log_of_run | awk '
      /^Err:/ { failing = 1; next }
      failing { reason = $0; sub(/^ +/, "", reason); failing = 0 }
      /^E: / && !inside { found = substr($0, 4); if (/^E: The repository / && reason != "") found = found " (" reason ")" }
      { inside = /^E: / }
      END { print found }') ;;
  esac
  printf '%s' "${said:+: $said}"
}

# run_user_script NAME SCRIPT: runs the user's script, if there is one. Stores the script in the
# state directory for inspection, and because /run is mounted noexec.
run_user_script() {
  local file=$state/steps/$1 code=0
  [[ -n $2 ]] || return 0
  say "$(hostname): $1"
  write "$file" 0700 "$2"$'\n'
  timeout "$((900 * factor))" bash "$file" || code=$?
  ((code == 0)) || die "steps.$1 ended with code $code on $(hostname); its output is in $log"
}

# Prints the end of the log of a failed script. The last line is the reason: the sentence of `die`,
# else the command that failed.
report_failure() {
  local code=$? reason=''
  if [[ -e $reason_file ]]; then
    reason=$(<"$reason_file")
    rm -f "$reason_file"
  fi
  ((code != 0)) || return 0
  [[ -n ${failed_command:-} ]] && failed_command="\`${failed_command%%$'\n'*}\`"
  say "$step failed on $(hostname); the whole log is in $log. Its last lines:"
  tail -n 25 "$log" | sed '/^reason: /d' >&3 || :
  say "reason: ${reason:-${failed_command:-$step} ended with code $code}"
}

# Reports every 5 s that the machine and this script run. Without reports, the program asks Nova for
# the state of the server (automation/engine/script-watchdog.ts). Standard input is a pipe that only
# the script keeps open. When the script ends, this function ends at once, so that it keeps neither
# the SSH session nor the lock.
report_alive() {
  exec 2>/dev/null 4>&- 9>&-
  while kill -0 $$ && printf 'alive %s %s %s s\n' "$SERVER_PATH" "$step" "$SECONDS" >&3; do
    read -r -t 5 || (($? > 128)) || break
  done
}

# run_step NAME FUNCTION [LOCK]: runs the function of a script, with a log that only root can read.
# Only one script with the same LOCK runs on a machine at a time.
run_step() {
  step=$1 log=/var/log/stackadm/$1.log reason_file=$volatile/$1.$$.reason
  umask 077
  [[ -d $state && -d $volatile && -d /var/log/stackadm ]] || mkdir -p "$state" "$volatile" /var/log/stackadm
  umask 022
  exec 3>&2 4>&1 9>"$volatile/${3:-lock}" >>"$log" 2>&1
  trap report_failure EXIT
  require SERVER_ID SERVER_PATH
  # Starts report_alive in the background of a subshell that ends at once. A `wait` in the script
  # then does not wait for report_alive.
  exec 8> >(report_alive <&0 &)
  # Waits for a script of an interrupted run, for example an upgrade, which may run for this time.
  # Meanwhile this script reports signs of life.
  flock -w "$((5400 * factor))" 9 8>&- || die "another step is still running on $(hostname)"
  # If the SSH connection ended during the wait, this write fails and ends the script.
  ((SECONDS < 5)) || say "$step begins"
  TZ=UTC printf -- '--- %(%FT%TZ)T\n' -1
  "$2" 8>&- 9>&- </dev/null
}
