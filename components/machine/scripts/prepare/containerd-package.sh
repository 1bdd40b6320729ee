# shellcheck shell=bash
# Installs containerd from the machine's repositories. If these repositories do not have the series,
# uses another repository for this package only. Library of prepare.sh.
# Values: CONTAINERD_SERIES, CONTAINERD_SOURCE, CONTAINERD_KEY, CONTAINERD_KEY_FINGERPRINT.
#
# The machine never lists the other repository as a source. apt reads this repository with separate
# lists, so that no other package of this repository is ever installed, neither now nor in later
# updates. Preferences of apt cannot ensure this: a preference identifies a repository by its host,
# and a mirror offers the distribution on the same host.

readonly containerd_keyring=/etc/apt/keyrings/stackadm-containerd.asc containerd_directory=/var/cache/stackadm/containerd

# Succeeds if the installed containerd is in the series. `containerd --version` prints its name, its
# package, its version and its commit.
has_containerd() {
  [[ -n $(containerd --version | awk '{ sub(/^v/, "", $3); print $3 }' | print_first_in_series "$CONTAINERD_SERIES") ]]
}

# Succeeds if kubeadm can use the installed containerd. A machine in service may have any version,
# because its containerd changes only at the machine's turn.
is_containerd_usable() { if is_cluster_machine; then containerd --version; else has_containerd; fi; }

# Adds the package, or the file of the package, to `pinned`.
pin_containerd() {
  local version separate=()
  if find_version "$CONTAINERD_SERIES" containerd.io containerd; then return; fi
  update_package_lists
  if find_version "$CONTAINERD_SERIES" containerd.io containerd; then return; fi
  find_separate_containerd
  download_containerd "$containerd_directory" containerd.io "$version" "${separate[@]}"
  pinned+=("$containerd_directory"/containerd.io_*.deb)
}

# Continues if a repository does not answer, because another repository may have the package.
update_package_lists() {
  apt_update || say "$(hostname): not all of its package lists can be fetched$(print_tool_error apt)"
}

# print_os_field NAME: prints a field of os-release(5), or nothing.
# shellcheck source=/dev/null
print_os_field() (
  . /etc/os-release
  printf '%s' "${!1:-}"
)

# fill_os_placeholders TEXT: prints the text with the machine's distribution and release in place of
# the placeholders.
fill_os_placeholders() {
  local text=$1 pair place value
  for pair in distribution=ID codename=VERSION_CODENAME; do
    place="{${pair%=*}}"
    [[ $text == *"$place"* ]] || continue
    value=$(print_os_field "${pair#*=}")
    [[ $value =~ ^[a-z0-9][a-z0-9._-]*$ ]] ||
      die_as INVALID_CONFIG "kubernetes.packages.containerd: /etc/os-release of $(hostname) has no ${pair#*=} for $place; write source and key without it"
    text=${text//"$place"/$value}
  done
  printf '%s' "$text"
}

# Lists the other repository. Sets `separate`, the options with which apt reads only this repository,
# and `version`, its newest build of containerd.io in the series.
find_separate_containerd() {
  local source key lists=$containerd_directory/sources.list argument=kubernetes.packages.containerd.source
  source=$(fill_os_placeholders "$CONTAINERD_SOURCE")
  key=$(fill_os_placeholders "$CONTAINERD_KEY")
  say "$(hostname): neither $(redact_url "$PACKAGES_URL") nor another repository of it has containerd $(series_text "$CONTAINERD_SERIES"); asking $(redact_url "$source")"
  install_key kubernetes.packages.containerd.key "$source" "$key" "$CONTAINERD_KEY_FINGERPRINT" "$containerd_keyring"
  separate=(-o Dir::Etc::sourcelist="$lists" -o Dir::Etc::sourceparts=- -o Dir::State::lists="$containerd_directory/lists")
  separate+=(-o Dir::Cache="$containerd_directory" -o APT::Update::Error-Mode=any)
  rm -rf "$containerd_directory"
  mkdir -p "$containerd_directory/lists"
  printf 'deb [signed-by=%s] %s\n' "$containerd_keyring" "$source" | write "$lists"
  apt_update "${separate[@]}" ||
    die "$argument: the packages of $(redact_url "$source") cannot be listed on $(hostname)$(print_apt_error "$argument")"
  version=$(print_newest "$CONTAINERD_SERIES" containerd.io "${separate[@]}")
  [[ -n $version ]] ||
    die_as INVALID_CONFIG "$argument: neither $(redact_url "$PACKAGES_URL") nor another repository of $(hostname) nor $(redact_url "$source") has containerd.io of series $(series_text "$CONTAINERD_SERIES"); write a repository that has it"
}

# download_containerd DIRECTORY NAME VERSION [OPTION...]: downloads the file of a package.
download_containerd() {
  try_download "$@" ||
    die "$2 $3 cannot be downloaded on $(hostname)$(print_apt_error "${4:+kubernetes.packages.containerd.source}")"
}

try_download() {
  mkdir -p "$1"
  # apt downloads as the user _apt if _apt can write to the directory.
  chown _apt "$1" || :
  (cd "$1" && apt_run 600 "${@:4}" download "$2=$3") && chown -R root "$1"
}

# Deletes the files that `find_separate_containerd` wrote, in this run or in an interrupted run.
forget_containerd_source() { rm -rf "$containerd_directory"; }
