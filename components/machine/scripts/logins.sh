# shellcheck shell=bash disable=SC2154
# Lets the operators log in whose keys are listed, and nobody any more whose key is revoked. Read by the scripts that come after this one.
# Values: LOGIN_USER; LOGIN_KEYS, one public key a line, besides the one that the machine was made with (with REVOKED_KEYS, that of now, too); REVOKED_KEYS, of each
# what follows its type.

# Ours stand between two marks. What is outside of them is cloud-init's, the image's or the operators' own.
logins() {
  local home file others='' begin='# stackadm: login keys' end='# stackadm: end of login keys'
  home=$(getent passwd "$LOGIN_USER" | cut -d: -f6) || :
  [[ -n $home ]] || die "$(hostname) has no user $LOGIN_USER"
  file=$home/.ssh/authorized_keys
  if [[ -e $file ]]; then others=$(sed "/^$begin\$/,/^$end\$/d" "$file" | not_revoked); fi
  if [[ -z $LOGIN_KEYS$REVOKED_KEYS ]] && ! grep -qsxF "$begin" "$file"; then return 0; fi
  {
    printf '%s\n' "$others"
    if [[ -n $LOGIN_KEYS ]]; then printf '%s\n' "$begin" "$LOGIN_KEYS" "$end"; fi
  } | write "$file"
  chown "$LOGIN_USER:" "$file"
}

# The lines of authorized_keys but for those keys, whatever options or name they have.
not_revoked() {
  REVOKED=$REVOKED_KEYS awk '
    BEGIN { split(ENVIRON["REVOKED"], list, "\n"); for (i in list) revoked[list[i]] }
    { sub(/\r$/, ""); for (i = 1; i <= NF; i++) if ($i in revoked) next; print }'
}
