# shellcheck shell=bash
# Functions that install packages. Library of all scripts that install packages, after common.sh and
# download-errors.sh. Reads no values.

# apt_run SECONDS ARGUMENT...: runs apt-get for at most SECONDS times `factor`, including up to 300
# s of waiting for the package lock. The output of apt-get is in English, because the functions
# below parse it.
apt_run() {
  LC_ALL=C DEBIAN_FRONTEND=noninteractive timeout "$(($1 * factor))" \
    apt-get -q -y -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "${@:2}"
}

# apt_update [OPTION...]: updates the package lists. Repeats the update for a while if the lists are
# locked, because apt's option for locks does not apply to the lists.
apt_update() {
  local end=$((SECONDS + 120 * factor)) forgot=no
  until apt_run 600 "$@" update; do
    if [[ $forgot == no ]] && lists_unreadable; then
      # apt never replaces a list that is incomplete because the machine lost power.
      rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin
      forgot=yes
      continue
    fi
    if [[ ! $(print_tool_error apt) =~ "Could not get lock"|"Unable to lock directory" ]] || ((SECONDS >= end)); then return 1; fi
    sleep 1
  done
}

lists_unreadable() { print_log_of_run | tail -n 5 | grep -Eq '^E: The package (lists or status file could not be parsed or opened|cache file is corrupted)'; }

# print_apt_error [SETTING]: prints ": ", the error of apt and a remedy, or nothing. SETTING is the
# option that names the package source.
print_apt_error() {
  local said
  said=$(print_tool_error apt)
  printf '%s' "$said$(print_remedy "$said" "${1:+write another address in $1}")"
}

# Updates only the list of the repository for Kubernetes. The distribution's repositories may be
# unreachable, and are not necessary if their packages are installed. Without Error-Mode=any, apt
# succeeds even if no repository answered.
apt_update_kubernetes() {
  apt_update -o Dir::Etc::sourcelist=sources.list.d/stackadm.list -o Dir::Etc::sourceparts=- \
    -o APT::Get::List-Cleanup=0 -o APT::Update::Error-Mode=any
}

# Allows changes of held packages: an earlier run with other settings, or the image, may hold a
# package in `pinned` at another version.
readonly apt_install_options=(-o Dpkg::Options::=--force-confold --no-install-recommends --allow-change-held-packages --allow-downgrades)

apt_install() { retry_after_apt_update apt_install_once "$@"; }

# apt_download NAME...: downloads the packages and their dependencies, and changes nothing else.
apt_download() { retry_after_apt_update apt_download_once "$@"; }

retry_after_apt_update() {
  "$@" || {
    apt_update || :
    "$@"
  }
}

# apt_install_once NAME...: downloads and installs packages. A download may be interrupted at any
# time, but dpkg may not, so the installation has a separate, long time limit.
apt_install_once() {
  # After an interrupted installation, apt refuses to install anything until dpkg has finished that
  # installation.
  DEBIAN_FRONTEND=noninteractive timeout "$((1800 * factor))" dpkg --force-confold --configure -a || :
  apt_download_once "$@" && apt_run 1800 "${apt_install_options[@]}" install "$@"
}

apt_download_once() { apt_run 900 "${apt_install_options[@]}" install --download-only "$@"; }

# apt_hold NAME...: holds the installed packages, so that no upgrade of the machine changes them.
# Skips names that are not installed as a package.
apt_hold() {
  local free
  mapfile -t free < <(dpkg-query -W -f '${db:Status-Want} ${db:Status-Status} ${Package}\n' "$@" |
    awk '$1 != "hold" && $2 == "installed" { print $3 }')
  ((${#free[@]} == 0)) || apt-mark hold "${free[@]}"
}
