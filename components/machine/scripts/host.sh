# shellcheck shell=bash disable=SC2154
# How fast the machine is. Read by prepare.sh. Value: TIMEOUT_FACTOR.

# Milliseconds that the work of `loop_time` takes on a machine which is slow enough for kubeadm to fail within its own defaults. Measured
# on one host: 10 to 20, up to 90 while ten processes share two cores, and 159 to 321 with an emulated processor.
readonly slow_loop=100 slowest_factor=5

# timeouts: writes the factor by which every bound on this machine is multiplied: what is asked for, or more where the machine is slower.
# Measured once, before anything runs on the machine that would disturb it.
timeouts() {
  local took measured=1
  if [[ -e $state/measured-factor ]]; then
    read -r measured <"$state/measured-factor" || :
  elif ! lives; then
    took=$(timeout 60 python3 -c "$loop_time") || took=''
    if [[ $took =~ ^[0-9]{1,6}$ ]]; then measured=$((1 + took / slow_loop)); fi
    ((measured <= slowest_factor)) || measured=$slowest_factor
    write "$state/measured-factor" 0644 "$measured"$'\n'
    ((measured <= TIMEOUT_FACTOR)) || say "$(hostname) is slow: what has to wait for it waits $measured times as long"
  fi
  [[ $measured =~ ^[1-9]$ ]] || measured=1
  factor=$TIMEOUT_FACTOR
  ((factor >= measured)) || factor=$measured
  write "$state/timeout-factor" 0644 "$factor"$'\n'
}

# The fastest of five, in milliseconds: something else may run meanwhile. cloud-init brings python3.
readonly loop_time='
import time
def loop():
    before, sum = time.perf_counter(), 0
    for number in range(500000):
        sum += number & 7
    return time.perf_counter() - before
print(round(1000 * min(loop() for _ in range(5))))
'
