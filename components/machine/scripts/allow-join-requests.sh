# shellcheck shell=bash
# Lets joining machines request their credentials from this machine over SSH. Library of
# control-plane.sh and etcd-member.sh.
# Values: MINT_SCRIPT, the program that answers the requests; JOIN_SIGNER, the public key of the CA
# that signs the machines' SSH certificates; NODE_RANGE, the range of the machines' addresses.

# Creates the user stackadm-join. A joining machine logs in as this user with an SSH certificate,
# which states the command that sshd runs.
allow_join_requests() {
  local home=$state-join
  write /usr/local/sbin/stackadm-mint 0755 "$MINT_SCRIPT"
  id stackadm-join || useradd --system --create-home --home-dir "$home" --shell /bin/sh stackadm-join
  # "*": the user has no password but is not locked, so that sshd accepts the certificate with and
  # without PAM.
  usermod -p '*' stackadm-join
  write /etc/sudoers.d/stackadm-join 0440 'stackadm-join ALL=(root) NOPASSWD: /usr/local/sbin/stackadm-mint'$'\n'
  write "$home/.ssh/authorized_keys" <<ENTRY
cert-authority,restrict,from="$NODE_RANGE" $JOIN_SIGNER
ENTRY
  chmod 0755 "$home" "$home/.ssh"
}
