# shellcheck shell=bash disable=SC2154
# Checks whether a component of the control plane runs and is healthy. Put before the scripts that
# use it.

readonly manifests=/etc/kubernetes/manifests

# is_new_container_healthy NAME CONTAINER: reports whether another container than CONTAINER runs and
# is healthy.
is_new_container_healthy() {
  local now
  now=$(container_of "$1") && [[ -n $now && $now != "$2" ]] || return 1
  case $1 in
    kube-apiserver) api_answers ;;
    kube-controller-manager) is_healthy "$1" 10257 ;;
    kube-scheduler) is_healthy "$1" 10259 ;;
  esac
}

# is_healthy NAME PORT: asks for the component's health at the address of kubelet's probe.
is_healthy() {
  local host
  host=$(awk '/^ *host: / { print $2; exit }' "$manifests/$1.yaml")
  [[ $(curl --silent --insecure --max-time "$((3 * factor))" "https://${host:-127.0.0.1}:$2/healthz") == ok ]]
}

container_of() {
  local all
  all=$(timeout "$((20 * factor))" crictl ps --quiet --state running --name "^$1\$") || return 1
  printf '%s' "${all%%$'\n'*}"
}
