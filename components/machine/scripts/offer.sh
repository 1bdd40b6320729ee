# shellcheck shell=bash disable=SC2154
# Lets machines ask this one for what they need to join. Read by the scripts that come after this one.
# Values: MINT_SCRIPT, what answers them; JOIN_SIGNER, who says who they are; NODE_RANGE, from where they may ask.

# A joining machine logs in as stackadm-join with a certificate that says what sshd runs for it.
let_machines_ask() {
  local home=$state-join
  write /usr/local/sbin/stackadm-mint 0755 "$MINT_SCRIPT"
  id stackadm-join || useradd --system --create-home --home-dir "$home" --shell /bin/sh stackadm-join
  # "*": no password, but not locked, so that sshd accepts the key whether or not it uses PAM.
  usermod -p '*' stackadm-join
  write /etc/sudoers.d/stackadm-join 0440 'stackadm-join ALL=(root) NOPASSWD: /usr/local/sbin/stackadm-mint'$'\n'
  write "$home/.ssh/authorized_keys" <<ENTRY
cert-authority,restrict,from="$NODE_RANGE" $JOIN_SIGNER
ENTRY
  chmod 0755 "$home" "$home/.ssh"
}
