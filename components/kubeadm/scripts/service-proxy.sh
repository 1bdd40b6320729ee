# shellcheck shell=bash
# Where kube-router is the Services' proxy, it reaches the API by its name. Read after api-name.sh, whose word it takes back.

# As kube-proxy there: its container has the file as it was when it started.
renew_proxy() {
  crictl ps --quiet --name '^kube-router$' | xargs -r timeout 60 crictl stop || say "$(hostname): kube-router was not restarted"
}
