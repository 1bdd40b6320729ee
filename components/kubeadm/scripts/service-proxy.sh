# shellcheck shell=bash
# Where @CONTAINER@ is the Services' proxy, it reaches the API by its name. Read after api-name.sh, whose word it takes back.

# As kube-proxy there: its container has the file as it was when it started.
renew_proxy() {
  crictl ps --quiet --name '^@CONTAINER@$' | xargs -r timeout 60 crictl stop || say "$(hostname): @CONTAINER@ was not restarted"
}
