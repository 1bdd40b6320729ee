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
# At the first boot, the file does not exist yet, and prepare.sh gets the factor in TIMEOUT_FACTOR.
((${TIMEOUT_FACTOR:-1} <= factor)) || factor=$TIMEOUT_FACTOR

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

# Reports every 5 s that the machine and this script run, and ends the step at its time limit.
# Without reports, the program asks Nova for the state of the server
# (automation/engine/script-watchdog.ts). Standard input is a pipe that only the script keeps open.
# The script writes a line to the pipe when its function begins. When the script ends, this function
# ends at once, so that it keeps neither the SSH session nor the lock.
report_alive() {
  local left='' code=''
  exec 2>/dev/null 4>&- 9>&-
  # The time limit also applies after the SSH session has ended and every write fails.
  trap '' PIPE
  while kill -0 $$; do
    [[ $code == 0 ]] || printf 'alive %s %s %s s\n' "$SERVER_PATH" "$step" "$SECONDS" >&3 || :
    code=0
    read -r -t 5 || code=$?
    if ((code == 0)); then
      left=$step_limit
    elif ((code <= 128)); then
      break
    # Counts intervals, because a correction of the clock would change SECONDS.
    elif [[ -n $left ]] && (((left -= 5) <= 0)); then
      end_step || :
      break
    fi
  done
}

# Ends the script's shell and all other processes of the step, at the time limit. The units of
# start_unit continue, because they are processes of systemd. The shell reports the failure in its
# exit trap, for which it has 60 s.
# The kernel does not end a process that waits for a device, and the shell waits for this process.
# In this case, this function kills the shell and reports the failure. It also ends the session's
# sshd, which otherwise waits until every process has closed the output of the session.
end_step() {
  local processes=() callers=() parents=() states=() session=''
  find_step_processes
  printf '%s did not end within %s s on %s and was ended while it ran %s; if the machine is only slow, write a larger timeoutFactor\n' \
    "$step" "$step_limit" "$(hostname)" "$(print_unfinished_programs)" >"$reason_file"
  kill -USR1 $$
  kill -KILL "${processes[@]}"
  for _ in {1..60}; do
    kill -0 $$ || break
    sleep 1
  done
  kill -KILL $$
  [[ ! -e $reason_file ]] || (exit 124) || report_failure
  for _ in {1..5}; do
    find_step_processes
    ((${#processes[@]} > 0)) || return 0
    kill -KILL "${processes[@]}"
    sleep 1
  done
  [[ -z $session ]] || kill "$session"
}

# Sets `processes` to the IDs of all processes of the step except the script's shell: the
# descendants of the shell, and other processes that keep the SSH session open. Sets `parents`
# and `states` to the parent and the state of each process on the machine. The first call also sets
# `callers` to the shell and its ancestors, which are never ended, and `session` to the session's
# sshd. Later calls keep these values, because the shell may have ended.
find_step_processes() {
  local line pid one name
  processes=() parents=() states=()
  for line in /proc/[0-9]*/stat; do
    IFS= read -r line <"$line" || continue
    pid=${line%% *}
    # The second field is the name of the program, in brackets. The name may contain blanks.
    read -r "states[pid]" "parents[pid]" _ <<<"${line##*) }"
  done
  for ((one = $$; one > 0; one = ${parents[one]:-0})); do
    callers[one]=yes
    read -r name <"/proc/$one/comm" || name=''
    [[ -n $session || $name != sshd* ]] || session=$one
  done
  for pid in "${!parents[@]}"; do
    if [[ -n ${callers[pid]:-} ]] || ((pid == BASHPID)); then continue; fi
    for ((one = pid; one > 0 && one != $$; one = ${parents[one]:-0})); do :; done
    if ((one == $$)) || has_session_output "$pid"; then processes+=("$pid"); fi
  done
}

# has_session_output PID: succeeds if the process has inherited descriptor 3, the output of the SSH
# session. Always fails if the output is a file or a terminal, which other programs may use, too.
has_session_output() {
  local output=/proc/$BASHPID/fd/3
  [[ (-p $output || -S $output) && /proc/$1/fd/3 -ef $output ]]
}

# Prints the programs in `processes` that wait for no other program. Prints no arguments, because
# the arguments of a user's script may be secret.
print_unfinished_programs() {
  local pid name found=''
  for pid in "${processes[@]}"; do
    if [[ " ${parents[*]} " == *" $pid "* ]]; then continue; fi
    read -r name <"/proc/$pid/comm" || continue
    if [[ ${states[pid]} == D ]]; then name+=', which waits for a device'; fi
    found+="${found:+, }$name"
  done
  printf '%s' "${found:-bash}"
}

# run_step NAME FUNCTION [LOCK [SECONDS]]: runs the function of a script, with a log that only root
# can read. Only one script with the same LOCK runs on a machine at a time. The function is ended
# after SECONDS times `factor`.
run_step() {
  local step_limit=$((${4:-5400} * factor))
  step=$1 log=/var/log/stackadm/$1.log reason_file=$volatile/$1.$$.reason
  umask 077
  [[ -d $state && -d $volatile && -d /var/log/stackadm ]] || mkdir -p "$state" "$volatile" /var/log/stackadm
  umask 022
  exec 3>&2 4>&1 9>"$volatile/${3:-lock}" >>"$log" 2>&1
  trap report_failure EXIT
  # The signal of end_step. SIGTERM is the signal of a machine that stops, after which the program
  # runs the script again (lifecycle/ssh-failures.ts).
  trap 'exit 124' USR1
  require SERVER_ID SERVER_PATH
  # Starts report_alive in the background of a subshell that ends at once. A `wait` in the script
  # then does not wait for report_alive.
  exec 8> >(report_alive <&0 &)
  # Waits for a script of an interrupted run, for example an upgrade. The wait is longer than the
  # time limit of such a script. Meanwhile this script reports signs of life.
  flock -w "$((5520 * factor))" 9 8>&- || die "another step is still running on $(hostname)"
  # If the SSH connection ended during the wait, this write fails and ends the script.
  ((SECONDS < 5)) || say "$step begins"
  TZ=UTC printf -- '--- %(%FT%TZ)T\n' -1
  echo begins >&8
  "$2" 8>&- 9>&- </dev/null
}
