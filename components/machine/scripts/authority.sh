# shellcheck shell=bash disable=SC2154
# Trusts the CA of the cloud for everything on this machine that contacts the cloud: downloads and
# the user's steps. Library of prepare.sh.
# Value: CLOUD_AUTHORITY, PEM.

readonly cloud_authority=/usr/local/share/ca-certificates/stackadm-cloud.crt

# trust_cloud: runs before any download. A running program, like containerd, uses the CA after its
# next start.
trust_cloud() {
  local todo=trust
  if [[ -n $CLOUD_AUTHORITY ]]; then
    command -v update-ca-certificates || apt_install ca-certificates ||
      die "ca-certificates cannot be installed on $(hostname)$(apt_fault)"
    write "$cloud_authority" 0644 "$CLOUD_AUTHORITY"$'\n'
  elif [[ -e $cloud_authority || -e $cloud_authority.withdrawn ]]; then
    todo=forget
    # Renamed, not deleted: if this run stops here, the next one sees that the CA is still trusted.
    [[ ! -e $cloud_authority ]] || mv -f "$cloud_authority" "$cloud_authority.withdrawn"
  else
    return 0
  fi
  # Runs every time, since an earlier run may have stopped after it wrote the file.
  update-ca-certificates || die "$(hostname) cannot be told to $todo the cloud's authority; update-ca-certificates says why in $log"
  rm -f "$cloud_authority.withdrawn"
}
