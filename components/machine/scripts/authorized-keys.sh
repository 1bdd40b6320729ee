# shellcheck shell=bash
# Installs the operators' login keys and removes revoked keys. Library of prepare.sh and
# bastion-logins-and-updates.sh.
# Values: LOGIN_USER; LOGIN_KEYS, one public key per line, in addition to the key in user data (if
# REVOKED_KEYS is not empty, LOGIN_KEYS also contains the current key); REVOKED_KEYS, each key
# without its type.

# Writes the program's keys between two marker lines. All other lines belong to cloud-init, the
# image or the operators.
install_login_keys() {
  local home file others='' begin='# stackadm: login keys' end='# stackadm: end of login keys'
  home=$(getent passwd "$LOGIN_USER" | cut -d: -f6) || :
  [[ -n $home ]] || die "$(hostname) has no user $LOGIN_USER"
  file=$home/.ssh/authorized_keys
  if [[ -e $file ]]; then others=$(sed "/^$begin\$/,/^$end\$/d" "$file" | remove_revoked_keys); fi
  if [[ -z $LOGIN_KEYS$REVOKED_KEYS ]] && ! grep -qsxF "$begin" "$file"; then return 0; fi
  {
    printf '%s\n' "$others"
    if [[ -n $LOGIN_KEYS ]]; then printf '%s\n' "$begin" "$LOGIN_KEYS" "$end"; fi
  } | write "$file"
  chown "$LOGIN_USER:" "$file"
}

# Prints the lines of authorized_keys without revoked keys. Options and comments of a line do not
# matter.
remove_revoked_keys() {
  REVOKED=$REVOKED_KEYS awk '
    BEGIN { split(ENVIRON["REVOKED"], list, "\n"); for (i in list) revoked[list[i]] }
    { sub(/\r$/, ""); for (i = 1; i <= NF; i++) if ($i in revoked) next; print }'
}
