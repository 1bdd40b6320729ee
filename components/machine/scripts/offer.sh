# shellcheck shell=bash disable=SC2154
# Lets other machines request what they need to join from this one. Library of the scripts that
# follow.
# Values: MINT_SCRIPT, the program that answers them; JOIN_SIGNER, the public key of the CA that
# signs their SSH certificates; NODE_RANGE, the range that they connect from.

# let_machines_ask: a joining machine logs in as stackadm-join with a certificate that states the
# command that sshd runs.
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
