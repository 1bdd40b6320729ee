# shellcheck shell=bash disable=SC2034
# Sets `factor`, which multiplies the time limits of an installed program: timeoutFactor, as
# machine/scripts/host.sh wrote it.

factor=1
[[ ! -r /var/lib/stackadm/timeout-factor ]] || read -r factor </var/lib/stackadm/timeout-factor || :
[[ $factor =~ ^[1-9][0-9]?$ ]] || factor=1

# Requests to the cluster must not go to a proxy, which the image may set in /etc/environment.
unset {http,https,ftp,all,no}_proxy {HTTP,HTTPS,FTP,ALL,NO}_PROXY
