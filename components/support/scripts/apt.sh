# shellcheck shell=bash
# How packages come onto a machine: put after common.sh, before every script that installs some. Reads no values.

apt_run() {
  DEBIAN_FRONTEND=noninteractive timeout 600 apt-get -q -y -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@"
}

# Only our repository: the distribution's lists may be unreachable, and are not needed when its packages are there.
apt_update_own() {
  apt_run -o Dir::Etc::sourcelist=sources.list.d/stackadm.list -o Dir::Etc::sourceparts=- \
    -o APT::Get::List-Cleanup=0 update
}

# What is pinned may be held at another version, by an earlier run with other settings or by the image.
apt_install() {
  local options=(-o Dpkg::Options::=--force-confold --no-install-recommends --allow-change-held-packages --allow-downgrades)
  apt_run "${options[@]}" install "$@" || {
    apt_run update
    apt_run "${options[@]}" install "$@"
  }
}

# apt_hold NAME...: no upgrade of the machine changes what is installed of them. What came without a package cannot be held.
apt_hold() {
  local free
  mapfile -t free < <(dpkg-query -W -f '${db:Status-Want} ${db:Status-Status} ${Package}\n' "$@" |
    awk '$1 != "hold" && $2 == "installed" { print $3 }')
  ((${#free[@]} == 0)) || apt-mark hold "${free[@]}"
}
