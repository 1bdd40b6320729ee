# shellcheck shell=bash disable=SC2034
# Sets `factor`, by which the bounds of an installed program are multiplied: timeoutFactor, as machine/scripts/host.sh wrote it.

factor=1
[[ ! -r /var/lib/stackadm/timeout-factor ]] || read -r factor </var/lib/stackadm/timeout-factor || :
[[ $factor =~ ^[1-9][0-9]?$ ]] || factor=1
