# shellcheck shell=bash
# Checks the speed, the clock and the free disk space of the machine. Library of prepare.sh.
# Values: TIMEOUT_FACTOR; PACKAGES_URL, whose server's time is the reference for the clock.

# Milliseconds that `loop_time` takes on a machine that is too slow for kubeadm's default timeouts.
# Measured on one host: 10 to 20, up to 90 while ten processes share two cores, and 159 to 321 with
# an emulated processor.
readonly slow_loop=100 slowest_factor=5

# Writes the factor by which the scripts on this machine multiply their time limits: the larger of
# TIMEOUT_FACTOR and the measured factor. Reports a measured factor that is larger than
# TIMEOUT_FACTOR. Measures the speed only once, before Kubernetes uses the processor.
write_timeout_factor() {
  local took measured=1
  if [[ -e $state/measured-factor ]]; then
    read -r measured <"$state/measured-factor" || :
  elif ! is_cluster_machine; then
    took=$(timeout 60 python3 -c "$loop_time") || took=''
    if [[ $took =~ ^[0-9]{1,6}$ ]]; then measured=$((1 + took / slow_loop)); fi
    ((measured <= slowest_factor)) || measured=$slowest_factor
    write "$state/measured-factor" 0644 "$measured"$'\n'
  fi
  [[ $measured =~ ^[1-9]$ ]] || measured=1
  factor=$TIMEOUT_FACTOR
  if ((measured > factor)); then
    factor=$measured
    # A measured factor cannot change flags, which are the same on all machines and are known before
    # a machine measures its speed.
    printf 'note: %s is slow (measured factor %s): its own time limits are %s times as long, but leases, probes and flags of Kubernetes follow only timeoutFactor, which is %s; write timeoutFactor: %s\n' \
      "$(hostname)" "$measured" "$measured" "$TIMEOUT_FACTOR" "$measured" >&3
  fi
  write "$state/timeout-factor" 0644 "$factor"$'\n'
}

# Python program (cloud-init brings python3) that prints the milliseconds of the fastest of five
# loops, because other processes may slow some loops down.
readonly loop_time='
import time
def loop():
    before, sum = time.perf_counter(), 0
    for number in range(500000):
        sum += number & 7
    return time.perf_counter() - before
print(round(1000 * min(loop() for _ in range(5))))
'

# Tolerated error of the clock in seconds. kubeadm and its certificates tolerate 5 minutes, tokens
# and signatures less.
readonly clock_tolerance=60

# Compares the clock once with the time of the package server, because a machine with a wrong clock
# refuses the server's certificate. Ignores a server that does not answer or sends no time, because
# the later download reports such a server.
check_clock() {
  if is_cluster_machine || [[ -e $state/clock-compared ]]; then return; fi
  if compare_clock; then touch "$state/clock-compared"; fi
}

# Dies if the clock is wrong and no time service has set the clock. Fails if the package server
# sends no time.
compare_clock() {
  local off word
  off=$(print_clock_offset) || return 1
  ((${off#-} > clock_tolerance)) || return 0
  say "$(hostname): its clock is wrong by ${off#-} s; waiting until it is set"
  # Waits, because a time service that has just reached its server may set the clock within this
  # time.
  poll 60 is_clock_synchronized || :
  off=$(print_clock_offset) || return 0
  ((${off#-} > clock_tolerance)) || return 0
  word=ahead
  if ((off < 0)); then word=behind; fi
  # A time service is a better source than the header Date of one web server.
  if is_clock_synchronized; then
    printf 'note: the clock of %s is set by its time service, but %s s %s of %s\n' "$(hostname)" "${off#-}" "$word" "$(redact_url "$PACKAGES_URL")" >&3
    return
  fi
  die "the clock of $(hostname) is ${off#-} s $word, and no time service has set it: every certificate would be refused; let the machine reach a time server (UDP port 123), or have cloudInit name one that it reaches (\`ntp: {servers: [...]}\`) and raise the generation of the machine; then run up again"
}

# Prints the seconds by which this clock is ahead; negative if this clock is behind. If a cache
# answers, the header Date contains the time of the origin server, and the header Age contains the
# seconds since the cache received this answer.
print_clock_offset() {
  local answer date now age
  answer=$(fetch_headers "$PACKAGES_URL") || return 1
  date=$(sed -n 's/\r$//; s/^[Dd]ate: *//p' <<<"$answer" | head -n 1)
  [[ -n $date ]] && date=$(date -d "$date" +%s) || return 1
  age=$(sed -n 's/\r$//; s/^[Aa]ge: *\([0-9]\{1,9\}\)$/\1/p' <<<"$answer" | tail -n 1)
  now=$(date +%s)
  printf '%s' "$((now - date - 10#${age:-0}))"
}

is_clock_synchronized() { [[ $(timedatectl show --value -p NTPSynchronized) == yes ]]; }

# MiB of disk space. Measured with 1.36.3: 107 MiB of packages to download and 311 MiB installed,
# without the package lists. The images of a control plane with add-ons contain 550 MiB of programs,
# of which containerd also keeps a compressed copy.
readonly package_space=512 image_space=1024

# Dies if the disks have too little free space, before apt or containerd would fail. Skips a
# prebaked image, which needs no further space.
check_disk_space() {
  local root images
  if is_cluster_machine || is_installed; then return; fi
  root=$(print_free_space /) && images=$(print_free_space /var/lib/containerd) || return 0
  if [[ ${root#* } == "${images#* }" ]]; then
    require_space "$root" $((package_space + image_space)) "packages and images" rootVolume
  else
    require_space "$root" "$package_space" packages rootVolume
    require_space "$images" "$image_space" images runtimeVolume
  fi
}

# print_free_space DIRECTORY: prints the free MiB and the mount point of the directory, which may
# not exist yet.
print_free_space() {
  local place=$1
  while [[ ! -d $place ]]; do place=${place%/*} place=${place:-/}; done
  df --output=avail,target --block-size=1M "$place" | awk 'END { print $1, $2 }'
}

# require_space FREE-AND-PLACE MiB WHAT VOLUME: dies if less than MiB are free. WHAT and VOLUME are
# for the message.
require_space() {
  local free=${1% *}
  [[ $free =~ ^[0-9]+$ ]] && ((free < $2)) || return 0
  die_as INVALID_CONFIG "$(hostname) has $free MiB free at ${1#* }, and its $3 need $2; choose a flavor with a larger disk, or write $4.size, and raise the generation of the machine to have it created again"
}
