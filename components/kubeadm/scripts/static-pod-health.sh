# shellcheck shell=bash disable=SC2154
# Checks whether a component of the control plane runs and is healthy. Put before the scripts that
# use it.

readonly manifests=/etc/kubernetes/manifests

# serves NAME CONTAINER: reports whether another container than CONTAINER runs and is healthy.
serves() {
  local now
  now=$(container_of "$1") && [[ -n $now && $now != "$2" ]] || return 1
  case $1 in
    kube-apiserver) answers ;;
    kube-controller-manager) well "$1" 10257 ;;
    kube-scheduler) well "$1" 10259 ;;
  esac
}

# well NAME PORT: asks for the component's health at the address of kubelet's probe.
well() {
  local host
  host=$(awk '/^ *host: / { print $2; exit }' "$manifests/$1.yaml")
  [[ $(curl --silent --insecure --max-time "$((3 * factor))" "https://${host:-127.0.0.1}:$2/healthz") == ok ]]
}

container_of() {
  local all
  all=$(timeout "$((20 * factor))" crictl ps --quiet --state running --name "^$1\$") || return 1
  printf '%s' "${all%%$'\n'*}"
}
