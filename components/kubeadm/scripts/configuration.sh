# shellcheck shell=bash disable=SC2154
# The flags of the control plane's components, and the files that they name, converge on this machine. A component that does not
# come up with them gets its former manifest back: a mistyped flag takes no API server. So with kubeadm's patches of their manifests.
# Read by control-plane.sh.
# Values: CONFIGURATION, blocks of ClusterConfiguration; nothing: kubeadm's own. CONFIGURATION_FILES and PATCHES, a line
# "NAME BASE64" each.

# Former manifests lie beside the others, not among them: kubelet runs what it finds there.
readonly former_manifests=/etc/kubernetes/stackadm-former own_files=/etc/kubernetes/stackadm
readonly own_patches=/etc/kubernetes/stackadm-patches

# Before kubeadm writes a manifest that names them.
write_configuration_files() {
  local name data
  while read -r name data; do
    [[ -z $name ]] || base64 -d <<<"$data" | write "$own_files/$name" 0600
  done <<<"$CONFIGURATION_FILES"
}

# A control plane that joins gets its first manifest of the cluster's own configuration, which names former files as long as no
# control plane has come up with others. What the cluster was given through another one is begun here too: it may be asked for
# no more by now, and the other one may be replaced next. One of an earlier release gives none.
fetch_former_files() {
  local name data file
  ask_peers 60 files >"$asking/files" || return 0
  while read -r name data; do
    case $name in kept/configuration | kept/kubelet | kept/proxy) begin "${name#kept/}" ;; esac
    [[ $name =~ ^(stackadm-encryption/)?[a-z0-9][a-z0-9.-]*$ ]] || continue
    file=$own_files/$name
    if [[ $name == */* ]]; then
      make_encryption_home
      file=$own_encryption/${name#*/}
    fi
    [[ -e $file ]] || base64 -d <<<"$data" | write "$file" 0600
  done <"$asking/files"
}

# Before kubeadm writes any manifest: it applies all that lies there, so that those must be gone that nobody asks for any more.
# A kubeadm that a stopped run left may be reading them.
write_patches() {
  local name data
  if [[ -z $PATCHES ]]; then
    rm -rf "$own_patches"
    return 0
  fi
  { mkdir -p "$own_patches" && chmod 0700 "$own_patches"; } || die "cannot make $own_patches"
  while read -r name data; do
    base64 -d <<<"$data" | write "$own_patches/$name" 0600
  done <<<"$PATCHES"
  keep_only "$own_patches" "$PATCHES"
}

# kubeadm init and join bring what is asked for. Where they are stopped, and it is asked for no more by then, it has to go again.
begin_with_configuration() {
  [[ -z $CONFIGURATION ]] || begin configuration
  [[ -z $PATCHES ]] || begin patches
}

# This machine and the cluster have what is asked for. Files go that no flag names any more.
keep_configuration() {
  keep_only "$own_files" "$CONFIGURATION_FILES"
  keep configuration "$CONFIGURATION"
  keep patches "$PATCHES"
}

# What is asked for, in a sentence.
asked_for() {
  if [[ -n $PATCHES ]]; then printf 'flags and patches'; else printf flags; fi
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
  if is_kept configuration "$CONFIGURATION" && is_kept patches "$PATCHES"; then return 0; fi
  # What was never asked for is not begun: what somebody wrote by hand stays beside a patch.
  is_kept configuration "$CONFIGURATION" || begin configuration
  is_kept patches "$PATCHES" || begin patches
  configuration_document >"$document" || die "kubeadm's configuration cannot be read from the cluster"
  for component in apiserver controller-manager scheduler; do converge_component "$component" "$document"; done
  converge_dns "$document"
  # Not before: what the cluster says has come up somewhere.
  kubeadm init phase upload-config kubeadm --config "$document" ||
    die "kubeadm's configuration in the cluster did not get the new flags$(because kubeadm)"
  keep_configuration
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
    say "$NODE_NAME: $name starts with its new $(asked_for)"
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
    die_as CONFIGURATION_UNDONE "$1 on $NODE_NAME does not come up with its new $(asked_for) and runs with its former ones again${said:+; it said: $said}"
  fi
  die "$1 on $NODE_NAME does not come up, neither with its new $(asked_for) nor with its former ones; crictl logs there says why${said:+; it said: $said}"
}

# Why kubeadm waited in vain, when it may be a flag's fault: an API server that refuses a flag ends. What one that is only slow logs
# says nothing about flags.
flags_fault() {
  local said
  [[ -n $CONFIGURATION$PATCHES ]] || return 0
  said=$(last_words kube-apiserver end)
  printf '%s' "${said:+; kube-apiserver said: $said}"
}

# last_words NAME [end]: of the newest container, whether or not it still runs. `end`: only why it ended.
last_words() {
  local all
  all=$(timeout "$((20 * factor))" crictl ps --all --quiet --name "^$1\$") || return 0
  [[ -z $all ]] || timeout "$((20 * factor))" crictl logs --tail 50 "${all%%$'\n'*}" 2>&1 | complaint "${2:-}"
}

# keep_only DIRECTORY LINES: of its files those of which there is a line "NAME BASE64".
keep_only() {
  local file
  for file in "$1"/*; do
    [[ ! -e $file || $'\n'$2 == *$'\n'"${file##*/} "* ]] || rm -f "$file"
  done
}
