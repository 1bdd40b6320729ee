# shellcheck shell=bash disable=SC2154
# Downloads the newest build of containerd for a machine in service, whose containerd changes only
# at the machine's turn (change-containerd.sh). Library of prepare.sh, after containerd-package.sh.
# Values: CONTAINERD_SERIES; CONTAINERD_GENERATION, empty if containerd changes only in upgrades.

# Downloads the build before an upgrade of Kubernetes, or after the generation has changed.
prepare_containerd_change() {
  if is_containerd_due; then
    fetch_containerd
  elif is_waiting_for_upgrade; then
    fetch_containerd_for_upgrade
  else
    rm -rf "$containerd_builds"
    has_containerd || say "$(hostname): its containerd is not $(series_text "$CONTAINERD_SERIES"); raise kubernetes.packages.containerd.generation to change it"
  fi
}

# Succeeds if the machine has not had its turn for this generation yet.
is_containerd_due() {
  is_cluster_machine && [[ -n $CONTAINERD_GENERATION ]] &&
    ! file_equals "$state/kept-containerd" "$CONTAINERD_GENERATION"
}

# Keeps the installed containerd if a newer one cannot be downloaded: after the creation of the
# machines, a site may have closed the way to the repository.
fetch_containerd_for_upgrade() {
  if (fetch_containerd); then return 0; fi
  has_containerd || die "$(<"$reason_file")"
  say "$(hostname): keeps its containerd in this upgrade: $(<"$reason_file")"
  rm -rf "$reason_file" "$containerd_builds"
  forget_containerd_source
}

# Downloads the newest build of the package from which containerd was installed.
fetch_containerd() {
  local name='' version='' separate=()
  rm -rf "$containerd_builds"
  if command -v apt-get; then read -r name _ < <(print_installed containerd.io containerd) || :; fi
  if [[ -z $name ]]; then
    has_containerd ||
      die_as INVALID_CONFIG "containerd of $(hostname) is not $(series_text "$CONTAINERD_SERIES"), and apt did not install it; install such a version there and run up again"
    say "$(hostname): apt did not install its containerd, which stays as it is"
    return 0
  fi
  update_package_lists
  version=$(print_newest "$CONTAINERD_SERIES" "$name")
  # The distribution's package stays if the distribution has no newer one.
  if [[ -z $version ]] && ! { [[ $name == containerd ]] && has_containerd; }; then
    name=containerd.io
    find_separate_containerd
  fi
  fetch_build "$name" "$version" "${separate[@]}"
  # Docker's containerd.io contains runc. A distribution has runc in a separate package.
  if [[ $name == containerd ]]; then fetch_build runc "$(print_candidate runc)"; fi
  forget_containerd_source
}

# fetch_build NAME VERSION [OPTION...]: downloads this build, unless it or a later one is installed.
# Also downloads the installed build, which change-containerd.sh installs again after a failure.
fetch_build() {
  local installed=''
  read -r _ installed < <(print_installed "$1") || :
  if [[ -z $2 || $installed == "$2" ]]; then return 0; fi
  if has_containerd && ! dpkg --compare-versions "$installed" lt "$2"; then return 0; fi
  say "$(hostname): fetching $1 $2 for its turn"
  download_containerd "$containerd_builds/next" "$@"
  [[ -z $installed ]] || try_download "$containerd_builds/former" "$1" "$installed" "${@:3}" ||
    say "$(hostname): $1 $installed is in no repository any more, so it cannot be installed again if $2 fails"
}

# print_installed NAME...: prints name and version of the first of these packages that is installed.
print_installed() {
  awk '$1 == "installed" && !found { found = $2 " " $3 } END { print found }' \
    < <(dpkg-query -W -f '${db:Status-Status} ${Package} ${Version}\n' "$@")
}

# print_candidate NAME: prints the version that apt would install.
print_candidate() { apt-cache policy "$1" | sed -n 's/^  Candidate: \([0-9].*\)$/\1/p'; }
