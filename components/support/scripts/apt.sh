# shellcheck shell=bash disable=SC2154
# How packages come onto a machine: put after common.sh and downloads.sh, before every script that installs some. Reads no values.

# apt_run SECONDS ARGUMENT...: runs apt-get for at most SECONDS times `factor`; it may wait 300 s of them for the package lock. In English,
# since its output is read.
apt_run() {
  LC_ALL=C DEBIAN_FRONTEND=noninteractive timeout "$(($1 * factor))" \
    apt-get -q -y -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "${@:2}"
}

# apt_update [OPTION...]: apt waits for no lock of its lists, whatever it is told of locks.
apt_update() {
  local end=$((SECONDS + 120 * factor)) forgot=no
  until apt_run 600 "$@" update; do
    if [[ $forgot == no ]] && lists_unreadable; then
      # apt never replaces a list that was half written when the machine lost its power.
      rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin
      forgot=yes
      continue
    fi
    if [[ ! $(because apt) =~ "Could not get lock"|"Unable to lock directory" ]] || ((SECONDS >= end)); then return 1; fi
    sleep 1
  done
}

lists_unreadable() { this_run | tail -n 5 | grep -Eq '^E: The package (lists or status file could not be parsed or opened|cache file is corrupted)'; }

# apt_fault [SETTING]: ": ", what apt said was wrong and what to do about it, or nothing. SETTING says where packages come from.
apt_fault() {
  local said
  said=$(because apt)
  printf '%s' "$said$(remedy "$said" "${1:+write another address in $1}")"
}

# Only our repository: the distribution's lists may be unreachable, and are not needed when its packages are there. Without the mode
# apt succeeds although nothing answered.
apt_update_own() {
  apt_update -o Dir::Etc::sourcelist=sources.list.d/stackadm.list -o Dir::Etc::sourceparts=- \
    -o APT::Get::List-Cleanup=0 -o APT::Update::Error-Mode=any
}

# What is pinned may be held at another version, by an earlier run with other settings or by the image.
readonly apt_choices=(-o Dpkg::Options::=--force-confold --no-install-recommends --allow-change-held-packages --allow-downgrades)

apt_install() { or_listed_anew apt_try "$@"; }

# apt_fetch NAME...: what their installation needs is on the machine then, and nothing else has changed.
apt_fetch() { or_listed_anew apt_download "$@"; }

or_listed_anew() {
  "$@" || {
    apt_update || :
    "$@"
  }
}

# A download may be broken off at any time; what dpkg does may not, so that has a long time for itself.
apt_try() {
  # Whatever broke it off all the same: apt refuses to install anything until that has come to its end.
  DEBIAN_FRONTEND=noninteractive timeout "$((1800 * factor))" dpkg --force-confold --configure -a || :
  apt_download "$@" && apt_run 1800 "${apt_choices[@]}" install "$@"
}

apt_download() { apt_run 900 "${apt_choices[@]}" install --download-only "$@"; }

# apt_hold NAME...: no upgrade of the machine changes what is installed of them. What came without a package cannot be held.
apt_hold() {
  local free
  mapfile -t free < <(dpkg-query -W -f '${db:Status-Want} ${db:Status-Status} ${Package}\n' "$@" |
    awk '$1 != "hold" && $2 == "installed" { print $3 }')
  ((${#free[@]} == 0)) || apt-mark hold "${free[@]}"
}
