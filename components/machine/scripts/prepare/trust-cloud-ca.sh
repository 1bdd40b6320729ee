# shellcheck shell=bash
# Makes all programs on this machine trust the cloud's private CA, for example downloads and the
# user's scripts that contact the cloud. Library of prepare.sh.
# Value: CLOUD_AUTHORITY, PEM.

readonly cloud_authority=/usr/local/share/ca-certificates/stackadm-cloud.crt

# Installs the CA, or removes a former CA. Runs before any download. Running programs, for example
# containerd, use the CA only after a restart.
trust_cloud() {
  local todo=trust
  if [[ -n $CLOUD_AUTHORITY ]]; then
    command -v update-ca-certificates || apt_install ca-certificates ||
      die "ca-certificates cannot be installed on $(hostname)$(print_apt_error)"
    write "$cloud_authority" 0644 "$CLOUD_AUTHORITY"$'\n'
  elif [[ -e $cloud_authority || -e $cloud_authority.withdrawn ]]; then
    todo=forget
    # Renames the file first: if this run stops here, the next run knows that the machine still
    # trusts the CA.
    [[ ! -e $cloud_authority ]] || mv -f "$cloud_authority" "$cloud_authority.withdrawn"
  else
    return 0
  fi
  # Runs even if the file is unchanged, because an earlier run may have stopped after writing the
  # file.
  update-ca-certificates || die "$(hostname) cannot $todo the cloud's CA certificate; update-ca-certificates says why in $log"
  rm -f "$cloud_authority.withdrawn"
}
