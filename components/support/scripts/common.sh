# shellcheck shell=bash
# Put before every script that runs on a machine. The script is fed to `bash -s` by standard input, so everything is a
# function, and `run_step` is called on the last line with standard input closed to the commands.
set -Eeuo pipefail
umask 022
# The command that ends a step for want of a sentence: its text before expansion, so that no value is in it.
trap 'failing=$BASH_COMMAND' ERR

readonly state=/var/lib/stackadm
readonly volatile=/run/stackadm

# Multiplies every bound on this machine. `prepare` writes it (machine/scripts/host.sh); 1 before that.
factor=1
[[ ! -r $state/timeout-factor ]] || read -r factor <"$state/timeout-factor" || :
[[ $factor =~ ^[1-9][0-9]?$ ]] || factor=1

# What a person reads: progress on standard error. The result alone goes to standard output.
say() { printf '%s\n' "$*" >&3; }

# die SENTENCE: the sentence goes through a file, so that it is the step's reason even when a subshell dies. Not through the
# log: there anything may stand.
die() {
  printf '%s\n' "${*//$'\n'/ }" >"$why"
  printf 'reason: %s\n' "${*//$'\n'/ }" >&2
  exit 1
}

# die_as CODE SENTENCE: CODE is a row of base/failures.ts; without one it is COMMAND_FAILED.
die_as() { die "[$1] ${*:2}"; }

# require NAME...: every value has to be given; it may be empty only when the script says so itself.
require() {
  local name
  for name in "$@"; do
    [[ -n ${!name:-} ]] || die "the value $name is missing"
  done
}

# poll SECONDS COMMAND...: repeats a command until it succeeds, at most so long, times `factor`.
poll() {
  local end=$((SECONDS + $1 * factor))
  shift
  until "$@"; do
    ((SECONDS < end)) || return 1
    sleep 0.3
  done
}

# write FILE [MODE [TEXT]]: replaces a file in one step with the text, or else with standard input. Sets `changed` to yes or no.
# shellcheck disable=SC2034 # `changed` is read by the scripts that come after this one
write() {
  local file=$1 mode=${2:-0644} new=$1.new.$BASHPID mask
  [[ -d ${file%/*} ]] || mkdir -p "${file%/*}" || die "cannot write $file"
  # What a run that was killed left under that name would keep its own mode.
  [[ ! -e $new ]] || rm -f "$new"
  # Nobody reads it before it is whole who may not read it then; of install that holds for GNU's only.
  printf -v mask '%04o' $((0777 & ~8#$mode))
  umask "$mask"
  changed=yes
  if (($# > 2)); then
    printf '%s' "$3" >"$new" || die "cannot write $file"
    ! holds "$file" "$3" || changed=no
  else
    cat >"$new" || die "cannot write $file"
    [[ ! -e $file ]] || ! cmp -s "$new" "$file" || changed=no
  fi
  umask 022
  # What runs as a program has its mode only now.
  [[ $mode != *[1357]* ]] || chmod "$mode" "$new" || die "cannot write $file"
  mv -f "$new" "$file" || die "cannot write $file"
}

# holds FILE TEXT: that text and nothing else.
holds() {
  local now
  [[ -e $1 ]] || return 1
  IFS= read -rd '' now <"$1" || :
  [[ $now == "$2" ]]
}

# Prints the bound of each of kubeadm's own waits. kubeadm's defaults reach from 1 to 5 minutes; a longer bound costs nothing where nothing fails.
kubeadm_timeout() { printf '%ss' "$((240 * factor))"; }

# half_done: kubeadm was here, but did not come to its end.
half_done() {
  [[ -e /etc/kubernetes/kubelet.conf || -e /etc/kubernetes/bootstrap-kubelet.conf ]] ||
    [[ -d /etc/kubernetes/pki || -d /var/lib/etcd/member ]] ||
    compgen -G '/etc/kubernetes/manifests/*.yaml' >/dev/null
}

# A unit of systemd outlives the SSH connection: what it does comes to an end even when nobody waits any more, and the
# next run waits for it instead of starting it twice.
unit_state() { systemctl show --value -p ActiveState "stackadm-$1.service"; }

unit_running() {
  case $(unit_state "$1") in
    active | activating | deactivating) return 0 ;;
    *) return 1 ;;
  esac
}

unit_ended() { ! unit_running "$1"; }

# start_unit NAME SECONDS COMMAND...: starts the command in a unit, bounded by SECONDS times `factor`, and returns when it runs. A queued
# unit (`--no-block`) counts as inactive, and wait_unit would not wait for it.
start_unit() {
  local unit=stackadm-$1.service limit=$2
  shift 2
  systemctl reset-failed "$unit" 2>/dev/null || :
  systemd-run --quiet --collect --unit "$unit" --service-type=exec \
    -p RuntimeMaxSec="$((limit * factor))" -p StandardOutput="append:$log" -p StandardError="append:$log" "$@"
}

# wait_unit NAME SECONDS: SECONDS times `factor` are the bound.
wait_unit() { poll "$2" unit_ended "$1" || die "$1 did not end within $(($2 * factor)) s"; }

# What this run wrote into the log.
this_run() { awk '/^--- [0-9]/ { n = 0 } { line[n++] = $0 } END { for (i = 0; i < n; i++) print line[i] }' "$log"; }

# because kubeadm|apt: ": " and what the tool itself said was wrong in this run, or nothing.
because() {
  local said=''
  case $1 in
    kubeadm) said=$(this_run | awk '
      /^[ \t]*\[ERROR / { sub(/^[ \t]+/, ""); checks = checks (checks == "" ? "" : "; ") $0 }
      /^error/ && first == "" { first = $0; sub(/^error: /, "", first) }
      END { print (checks == "" ? first : checks) }') ;;
    # The first of the last lines of errors: what follows it is advice, what came before was tried again. Of a repository that cannot
    # be used, the line after its address has the reason.
    apt) said=$(this_run | awk '
      /^Err:/ { failing = 1; next }
      failing { reason = $0; sub(/^ +/, "", reason); failing = 0 }
      /^E: / && !inside { found = substr($0, 4); if (/^E: The repository / && reason != "") found = found " (" reason ")" }
      { inside = /^E: / }
      END { print found }') ;;
  esac
  printf '%s' "${said:+: $said}"
}

# own_step NAME SCRIPT: what the user wants to run here, if anything. It stays where it can be looked at; /run takes no programs.
own_step() {
  local file=$state/steps/$1 code=0
  [[ -n $2 ]] || return 0
  say "$(hostname): $1"
  write "$file" 0700 "$2"$'\n'
  timeout "$((900 * factor))" bash "$file" || code=$?
  ((code == 0)) || die "steps.$1 ended with code $code on $(hostname); its output is in $log"
}

# The last line of a step that failed is its reason: what `die` was given, else the command that failed.
failed() {
  local code=$? reason=''
  if [[ -e $why ]]; then
    reason=$(<"$why")
    rm -f "$why"
  fi
  ((code != 0)) || return 0
  [[ -n ${failing:-} ]] && failing="\`${failing%%$'\n'*}\`"
  say "$step failed on $(hostname); the whole log is in $log. Its last lines:"
  tail -n 25 "$log" | sed '/^reason: /d' >&3 || :
  say "reason: ${reason:-${failing:-$step} ended with code $code}"
}

# Every 5 s the program hears that the machine runs, and this script on it; when it hears nothing, it asks Nova (see
# automation/cluster/watch.ts). Standard input is a pipe that only the script holds open: however the script ends, this
# ends at once, and keeps neither the SSH session open nor the lock.
signs_of_life() {
  exec 2>/dev/null 4>&- 9>&-
  while kill -0 $$ && printf 'alive %s %s %s s\n' "$SERVER_PATH" "$step" "$SECONDS" >&3; do
    read -r -t 5 || (($? > 128)) || break
  done
}

# run_step NAME FUNCTION [LOCK]: one at a time on a machine for each lock, with a log that only root reads.
run_step() {
  step=$1 log=/var/log/stackadm/$1.log why=$volatile/$1.$$.reason
  umask 077
  [[ -d $state && -d $volatile && -d /var/log/stackadm ]] || mkdir -p "$state" "$volatile" /var/log/stackadm
  umask 022
  exec 3>&2 4>&1 9>"$volatile/${3:-lock}" >>"$log" 2>&1
  trap failed EXIT
  require SERVER_ID SERVER_PATH
  # In the background of a process that ends: no `wait` of the script sees it.
  exec 8> >(signs_of_life <&0 &)
  # Of a run that was stopped: a step that upgrades may last so long. Whoever waits gives signs of life.
  flock -w "$((5400 * factor))" 9 8>&- || die "another step is still running on $(hostname)"
  # A run whose connection ended while it waited ends here: this write fails.
  ((SECONDS < 5)) || say "$step begins"
  TZ=UTC printf -- '--- %(%FT%TZ)T\n' -1
  "$2" 8>&- 9>&- </dev/null
}
