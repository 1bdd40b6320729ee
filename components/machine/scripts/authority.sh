# shellcheck shell=bash disable=SC2154
# The authority of the cloud that this machine is in, for whatever asks the cloud from here: downloads, steps of one's own. Read by
# prepare.sh. Value: CLOUD_AUTHORITY, PEM.

readonly cloud_authority=/usr/local/share/ca-certificates/stackadm-cloud.crt

# Before anything is fetched. A program that runs already, like containerd, takes it when it starts anew.
trust_cloud() {
  local todo=trust
  if [[ -n $CLOUD_AUTHORITY ]]; then
    command -v update-ca-certificates || apt_install ca-certificates ||
      die "ca-certificates cannot be installed on $(hostname)$(apt_fault)"
    write "$cloud_authority" 0644 "$CLOUD_AUTHORITY"$'\n'
  elif [[ -e $cloud_authority || -e $cloud_authority.withdrawn ]]; then
    todo=forget
    # No .crt any more, but there until it is trusted no more.
    [[ ! -e $cloud_authority ]] || mv -f "$cloud_authority" "$cloud_authority.withdrawn"
  else
    return 0
  fi
  # Each time: an earlier run may have come no further than the file.
  update-ca-certificates || die "$(hostname) cannot be told to $todo the cloud's authority; update-ca-certificates says why in $log"
  rm -f "$cloud_authority.withdrawn"
}
