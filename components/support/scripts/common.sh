# shellcheck shell=bash
# Put before every script that runs on a machine. The script is fed to `bash -s` by standard input, so everything is a
# function, and `run_step` is called on the last line with standard input closed to the commands.
set -euo pipefail
umask 022

readonly state=/var/lib/stackadm
readonly volatile=/run/stackadm

# What a person reads: progress on standard error. The result alone goes to standard output.
say() { printf '%s\n' "$*" >&3; }

die() {
  say "$*"
  exit 1
}

# require NAME...: every value has to be given; it may be empty only when the script says so itself.
require() {
  local name
  for name in "$@"; do
    [[ -n ${!name:-} ]] || die "the value $name is missing"
  done
}

# poll SECONDS COMMAND...: repeats a command until it succeeds, at most so long.
poll() {
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    ((SECONDS < end)) || return 1
    sleep 0.3
  done
}

# write FILE [MODE]: replaces a file in one step with standard input. Sets `changed` to yes or no.
write() {
  local file=$1 mode=${2:-0644} new
  if ! { mkdir -p "${file%/*}" && new=$(mktemp "$file.XXXXXX") && cat >"$new" && chmod "$mode" "$new"; }; then
    die "cannot write $file"
  fi
  # shellcheck disable=SC2034 # read by the scripts that come after this one
  if cmp -s "$new" "$file"; then changed=no; else changed=yes; fi
  mv -f "$new" "$file" || die "cannot write $file"
}

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

# start_unit NAME SECONDS COMMAND...: comes back when the command runs. A unit that is only queued (`--no-block`) still
# counts as inactive, and whoever waits for its end would not wait at all.
start_unit() {
  local unit=stackadm-$1.service limit=$2
  shift 2
  systemctl reset-failed "$unit" 2>/dev/null || :
  systemd-run --quiet --collect --unit "$unit" --service-type=exec \
    -p RuntimeMaxSec="$limit" -p StandardOutput="append:$log" -p StandardError="append:$log" "$@"
}

# wait_unit NAME SECONDS
wait_unit() { poll "$2" unit_ended "$1" || die "$1 did not end within $2 s"; }

failed() {
  local code=$?
  if ((code != 0)); then
    say "$step failed on $(hostname); the whole log is in $log. Its last lines:"
    tail -n 25 "$log" >&3 || :
  fi
}

# run_step NAME FUNCTION: one at a time on a machine, with a log that only root reads.
run_step() {
  step=$1 log=/var/log/stackadm/$1.log
  mkdir -p "$state" "$volatile" /var/log/stackadm
  chmod 0700 "$state" "$volatile" /var/log/stackadm
  exec 3>&2 4>&1 9>"$volatile/lock" >>"$log" 2>&1
  trap failed EXIT
  flock -w 600 9 || die "another step is still running on $(hostname)"
  date -u '+--- %FT%TZ'
  "$2" 9>&- </dev/null
}
