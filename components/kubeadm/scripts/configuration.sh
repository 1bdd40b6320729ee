# shellcheck shell=bash disable=SC2154
# The flags of the control plane's components, and the files that they name, converge on this machine. A component that does not
# come up with them gets its former manifest back: a mistyped flag takes no API server. Read by control-plane.sh.
# Values: CONFIGURATION, blocks of ClusterConfiguration; nothing: kubeadm's own. CONFIGURATION_FILES, a line "NAME BASE64" each.

# Former manifests lie beside the others, not among them: kubelet runs what it finds there.
readonly manifests=/etc/kubernetes/manifests former_manifests=/etc/kubernetes/stackadm-former own_files=/etc/kubernetes/stackadm

# Before kubeadm writes a manifest that names them.
write_configuration_files() {
  local name data
  while read -r name data; do
    [[ -z $name ]] || base64 -d <<<"$data" | write "$own_files/$name" 0600
  done <<<"$CONFIGURATION_FILES"
}

# A run that was stopped while a component started may have left one that never comes up, and nobody to ask what it should be.
restore_manifests() {
  local former
  for former in "$former_manifests"/*.yaml; do
    if [[ -e $former ]]; then
      mv -f "$former" "$manifests/"
      restored=yes
    fi
  done
}

# Where a manifest was put back, the API server may answer until kubelet has seen it, and be away then.
await_api() {
  if [[ -n ${restored:-} ]]; then steady 240 answers; else poll 240 answers; fi
}

converge_configuration() {
  local document=$volatile/configuration.yaml component
  if is_kept configuration "$CONFIGURATION"; then return 0; fi
  begin configuration
  configuration_document >"$document" || die "kubeadm's configuration cannot be read from the cluster"
  for component in apiserver controller-manager scheduler; do converge_component "$component" "$document"; done
  converge_dns "$document"
  # Not before: what the cluster says has come up somewhere.
  kubeadm init phase upload-config kubeadm --config "$document" ||
    die "kubeadm's configuration in the cluster did not get the new flags$(because kubeadm)"
  forget_configuration_files
  keep configuration "$CONFIGURATION"
}

# The cluster's own configuration with the wanted blocks in place of those that it has. Where none was ever asked for, what
# somebody wrote by hand stays.
configuration_document() {
  local live
  live=$(cluster_configuration) || return 1
  if ! is_kept configuration ''; then live=$(configured <<<"$live"); fi
  named <<<"$live"
}

configured() {
  awk '
    /^[^ ]/ { dropped = /^(apiServer|controllerManager|scheduler|dns|certificateValidityPeriod|caCertificateValidityPeriod):/ }
    !dropped { print }'
  printf '%s' "$CONFIGURATION"
  grep -q '^apiServer:' <<<"$CONFIGURATION" || printf 'apiServer: {}\n'
}

# converge_component NAME DOCUMENT
converge_component() {
  local name=kube-$1 before said
  local manifest=$manifests/$name.yaml former=$former_manifests/$name.yaml
  write "$former" 0600 <"$manifest"
  before=$(container_of "$name") || die "the containers of $NODE_NAME cannot be listed"
  if ! kubeadm init phase control-plane "$1" --config "$2"; then
    said=$(because kubeadm)
    restore_manifests
    die "kubeadm did not write the manifest of $name$said"
  fi
  if ! same_file "$former" "$manifest"; then
    say "$NODE_NAME: $name starts with its new flags"
    if ! comes_up serves "$name" "$before"; then component_back "$name" "$before"; fi
  fi
  rm -f "$former"
}

# component_back NAME CONTAINER: that one ran before.
component_back() {
  local before said
  said=$(last_words "$1")
  before=$(container_of "$1") || :
  # One that kubelet never stopped is what it was.
  [[ $before != "$2" ]] || before=''
  restore_manifests
  if is_back serves "$1" "$before"; then
    die_as CONFIGURATION_UNDONE "$1 on $NODE_NAME does not come up with its new flags and runs with its former ones again${said:+; it said: $said}"
  fi
  die "$1 on $NODE_NAME does not come up, neither with its new flags nor with its former ones; crictl logs there says why${said:+; it said: $said}"
}

# serves NAME CONTAINER: another container than that one runs and is well.
serves() {
  local now
  now=$(container_of "$1") && [[ -n $now && $now != "$2" ]] || return 1
  case $1 in
    kube-apiserver) answers ;;
    kube-controller-manager) well "$1" 10257 ;;
    kube-scheduler) well "$1" 10259 ;;
  esac
}

# Where kubelet asks, too.
well() {
  local host
  host=$(awk '/^ *host: / { print $2; exit }' "$manifests/$1.yaml")
  [[ $(curl --silent --insecure --max-time 3 "https://${host:-127.0.0.1}:$2/healthz") == ok ]]
}

container_of() {
  local all
  all=$(timeout 20 crictl ps --quiet --state running --name "^$1\$") || return 1
  printf '%s' "${all%%$'\n'*}"
}

# Why kubeadm waited in vain, when it may be a flag's fault.
flags_fault() {
  local said
  [[ -n $CONFIGURATION ]] || return 0
  said=$(last_words kube-apiserver)
  printf '%s' "${said:+; kube-apiserver said: $said}"
}

# Of the newest container, whether or not it still runs.
last_words() {
  local all
  all=$(timeout 20 crictl ps --all --quiet --name "^$1\$") || return 0
  [[ -z $all ]] || timeout 20 crictl logs --tail 50 "${all%%$'\n'*}" 2>&1 | complaint
}

# Those that no flag names any more.
forget_configuration_files() {
  local file
  for file in "$own_files"/*; do
    [[ ! -e $file ]] || grep -q "^${file##*/} " <<<"$CONFIGURATION_FILES" || rm -f "$file"
  done
}
