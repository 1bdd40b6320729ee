# shellcheck shell=bash
# Applies settings to the static pods of this control plane: flags of kube-apiserver,
# kube-controller-manager and kube-scheduler, files whose paths these flags contain, and kubeadm's
# patches of the manifests. If a component does not start with its new manifest, restores the old
# manifest, so that a wrong flag does not stop the API server permanently. Library of
# control-plane.sh.
# Values: CONFIGURATION, blocks of ClusterConfiguration (empty: kubeadm's defaults);
# CONFIGURATION_FILES and PATCHES, lines "NAME BASE64".

# Copies of the old manifests are in a separate directory, because kubelet runs every file in the
# directory of manifests as a static pod.
readonly former_manifests=/etc/kubernetes/stackadm-former own_files=/etc/kubernetes/stackadm
readonly own_patches=/etc/kubernetes/stackadm-patches

# Writes the files whose paths the flags contain. Runs before kubeadm writes a manifest with these
# flags.
write_configuration_files() {
  local name data
  while read -r name data; do
    [[ -z $name ]] || base64 -d <<<"$data" | write "$own_files/$name" 0600
  done <<<"$CONFIGURATION_FILES"
}

# Fetches the files that flags name from another control plane before a join. kubeadm writes the
# first manifests from the cluster's configuration, which may still name former files. Also records
# the settings of the other control plane as begun. Later steps then remove settings that are no
# longer in the specification, even if the other machine and its records are deleted.
fetch_former_files() {
  local name data file
  ask_peers 60 files >"$join_directory/files" || return 0
  while read -r name data; do
    case $name in kept/configuration | kept/kubelet | kept/proxy) record_unfinished "${name#kept/}" ;; esac
    [[ $name =~ ^(stackadm-encryption/)?[a-z0-9][a-z0-9.-]*$ ]] || continue
    file=$own_files/$name
    if [[ $name == */* ]]; then
      create_encryption_directory
      file=$own_encryption/${name#*/}
    fi
    [[ -e $file ]] || base64 -d <<<"$data" | write "$file" 0600
  done <"$join_directory/files"
}

# Writes kubeadm's patches. Runs before kubeadm writes a manifest. Then deletes all other files,
# because kubeadm applies every file in the directory. Does not empty the directory first, because
# kubeadm of an interrupted run may still read the wanted files.
write_patches() {
  local name data
  if [[ -z $PATCHES ]]; then
    rm -rf "$own_patches"
    return 0
  fi
  { mkdir -p "$own_patches" && chmod 0700 "$own_patches"; } || die "cannot create $own_patches"
  while read -r name data; do
    base64 -d <<<"$data" | write "$own_patches/$name" 0600
  done <<<"$PATCHES"
  delete_other_files "$own_patches" "$PATCHES"
}

# Records that kubeadm init or join applies the settings. If kubeadm is interrupted, the next run
# must remove settings that are no longer in the specification.
record_configuration_unfinished() {
  [[ -z $CONFIGURATION ]] || record_unfinished configuration
  [[ -z $PATCHES ]] || record_unfinished patches
}

# Records that this machine and the cluster have the settings. Deletes files whose paths are in no
# flag.
record_configuration() {
  delete_other_files "$own_files" "$CONFIGURATION_FILES"
  record_applied configuration "$CONFIGURATION"
  record_applied patches "$PATCHES"
}

# Prints the kind of the changed settings, for messages.
print_changed_settings() {
  if [[ -n $PATCHES ]]; then printf 'flags and patches'; else printf flags; fi
}

# Restores the old manifests after an interrupted or failed change. Sets `restored` if it restored a
# manifest. With the new manifests, the API server might never start, and the scripts could not read
# the cluster's ClusterConfiguration.
restore_manifests() {
  local former
  for former in "$former_manifests"/*.yaml; do
    if [[ -e $former ]]; then
      mv -f "$former" "$manifests/"
      restored=yes
    fi
  done
}

# Waits until the API server answers. If a manifest was restored, waits until the API server answers
# for several seconds without a break, because the running container answers until kubelet reads the
# restored manifest and replaces the container.
await_api() {
  if [[ -n ${restored:-} ]]; then wait_until_stable 240 api_answers; else poll 240 api_answers; fi
}

converge_configuration() {
  local document=$volatile/configuration.yaml component
  if is_recorded configuration "$CONFIGURATION" && is_recorded patches "$PATCHES"; then return 0; fi
  # Records only changed settings as unfinished. An example is a new patch with a CONFIGURATION that
  # was always empty. A record for CONFIGURATION would make configuration_document replace flags
  # that the user wrote by hand into the cluster's ClusterConfiguration.
  is_recorded configuration "$CONFIGURATION" || record_unfinished configuration
  is_recorded patches "$PATCHES" || record_unfinished patches
  configuration_document >"$document" || die "kubeadm's configuration cannot be read from the cluster"
  for component in apiserver controller-manager scheduler; do converge_component "$component" "$document"; done
  converge_dns "$document"
  # Uploads the configuration last, so that the cluster stores only flags with which a component has
  # started.
  kubeadm init phase upload-config kubeadm --config "$document" ||
    die "kubeadm's configuration in the cluster did not get the new flags$(print_tool_error kubeadm)"
  record_configuration
}

# Prints the cluster's ClusterConfiguration, with the blocks in CONFIGURATION instead of the
# stored blocks. If this program has never set any block, keeps the cluster's blocks, because the user may
# have written them by hand.
configuration_document() {
  local live
  live=$(cluster_configuration) || return 1
  if ! is_recorded configuration ''; then live=$(replace_configuration <<<"$live"); fi
  set_certificate_names <<<"$live"
}

replace_configuration() {
  awk '
    /^[^ ]/ { dropped = /^(apiServer|controllerManager|scheduler|dns|certificateValidityPeriod|caCertificateValidityPeriod):/ }
    !dropped { print }'
  printf '%s' "$CONFIGURATION"
  grep -q '^apiServer:' <<<"$CONFIGURATION" || printf 'apiServer: {}\n'
}

# converge_component NAME DOCUMENT: writes the manifest of a component (`apiserver` for
# kube-apiserver) and waits until the component is healthy.
converge_component() {
  local name=kube-$1 before said
  local manifest=$manifests/$name.yaml former=$former_manifests/$name.yaml
  write "$former" 0600 <"$manifest"
  before=$(container_of "$name") || die "the containers of $NODE_NAME cannot be listed"
  if ! kubeadm init phase control-plane "$1" --config "$2"; then
    said=$(print_tool_error kubeadm)
    restore_manifests
    die "kubeadm did not write the manifest of $name$said"
  fi
  if ! same_file "$former" "$manifest"; then
    say "$NODE_NAME: $name starts with its new $(print_changed_settings)"
    if ! wait_until_healthy is_new_container_healthy "$name" "$before"; then restore_component "$name" "$before"; fi
  fi
  rm -f "$former"
}

# restore_component NAME CONTAINER: restores the old manifest of a component that does not start,
# and dies. CONTAINER is the component's container before the change.
restore_component() {
  local before said
  said=$(print_component_error "$1")
  before=$(container_of "$1") || :
  # If kubelet has not stopped the old container, the component runs with the old flags already.
  [[ $before != "$2" ]] || before=''
  restore_manifests
  if wait_until_restored is_new_container_healthy "$1" "$before"; then
    die_as CONFIGURATION_UNDONE "$1 on $NODE_NAME does not come up with its new $(print_changed_settings) and runs with its former ones again${said:+; it said: $said}"
  fi
  die "$1 on $NODE_NAME does not come up, neither with its new $(print_changed_settings) nor with its former ones; crictl logs there says why${said:+; it said: $said}"
}

# Prints why the API server exited, if flags or patches of the user may have caused the failure of
# kubeadm init. An API server that refuses a flag exits and logs the reason. Prints nothing if the
# API server was only too slow, because its log then contains no reason.
print_flag_error() {
  local said
  [[ -n $CONFIGURATION$PATCHES ]] || return 0
  said=$(print_component_error kube-apiserver end)
  printf '%s' "${said:+; kube-apiserver exited: $said; correct kubernetes.apiServer or kubernetes.patches and run up again}"
}

# print_component_error NAME [end]: prints the error in the log of the component's newest container,
# running or not. With `end`, prints only the reason of the exit.
print_component_error() {
  local all
  all=$(timeout "$((20 * factor))" crictl ps --all --quiet --name "^$1\$") || return 0
  [[ -z $all ]] || timeout "$((20 * factor))" crictl logs --tail 50 "${all%%$'\n'*}" 2>&1 | print_last_error "${2:-}"
}

# delete_other_files DIRECTORY LINES: deletes all files in the directory without a line "NAME
# BASE64".
delete_other_files() {
  local file
  for file in "$1"/*; do
    [[ ! -e $file || $'\n'$2 == *$'\n'"${file##*/} "* ]] || rm -f "$file"
  done
}
