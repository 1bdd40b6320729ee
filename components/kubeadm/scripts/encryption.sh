# shellcheck shell=bash disable=SC2154
# Secrets are encrypted in etcd, with one key on all control planes. Until each of them reads what is encrypted, none of them writes
# it. Read by control-plane.sh.
# Values: ENCRYPTION, "DIGEST ENCRYPTS PLAIN", two files in base64 (kubeadm/encryption.ts); nothing: nothing is encrypted.
# ENCRYPTION_SCRIPT, what encrypts when all control planes can read it (encrypt.sh).

readonly own_encryption=/etc/kubernetes/stackadm-encryption encryption_program=/usr/local/sbin/stackadm-encrypt
readonly encryption_timer=/etc/systemd/system/stackadm-encrypt.timer

# write_encryption FIRST: before kubeadm writes a manifest that names the file. What is there is right: it was decided here, or by encrypt.sh.
# FIRST is `encrypts` where no API server is that could not read it, else `plain`.
write_encryption() {
  local digest encrypts plain file
  [[ -n $ENCRYPTION ]] || return 0
  read -r digest encrypts plain <<<"$ENCRYPTION"
  file=$own_encryption/$digest.yaml
  [[ ! -e $file ]] || return 0
  make_encryption_home
  if [[ $1 == encrypts ]]; then plain=$encrypts; fi
  base64 -d <<<"$plain" | write "$file" 0600
}

make_encryption_home() {
  { mkdir -p "$own_encryption" && chmod 0700 "$own_encryption"; } || die "cannot make $own_encryption"
}

# Whether all control planes read what is encrypted, as one of them says. Where nobody says so, it is not known.
encrypted_elsewhere() {
  local digest
  [[ -n $ENCRYPTION ]] || return 1
  read -r digest _ <<<"$ENCRYPTION"
  ask_peers 60 encrypts "$digest"
}

# The API server of this machine reads what is encrypted by now.
converge_encryption() {
  local digest encrypts
  if [[ -z $ENCRYPTION ]]; then
    forget_encryption
    return
  fi
  read -r digest encrypts _ <<<"$ENCRYPTION"
  write "$encryption_program" 0755 "$ENCRYPTION_SCRIPT"
  base64 -d <<<"$encrypts" | write "$own_encryption/$digest.encrypts" 0600
  poll 60 kubectl_admin annotate node "$NODE_NAME" --overwrite "stackadm.io/encryption=$digest" ||
    die "the API server of $NODE_NAME does not take that it reads encrypted Secrets"
  # It writes what is encrypted already, as one does that the cluster began with.
  if same_file "$own_encryption/$digest.encrypts" "$own_encryption/$digest.yaml"; then
    ask_no_more
    return
  fi
  write /etc/systemd/system/stackadm-encrypt.service <<UNIT
[Service]
Type=oneshot
ExecStart=$encryption_program settle $digest
SuccessExitStatus=1
TimeoutStartSec=$((60 * factor))
UNIT
  write "$encryption_timer" <<'UNIT'
[Timer]
OnActiveSec=20
OnUnitInactiveSec=20
AccuracySec=1
[Install]
WantedBy=timers.target
UNIT
  systemctl daemon-reload
  # The others are asked again until each has been given the key; then this is done for good.
  "$encryption_program" settle "$digest" || systemctl enable --now stackadm-encrypt.timer
}

ask_no_more() { [[ ! -e $encryption_timer ]] || systemctl disable --now "${encryption_timer##*/}" || :; }

# The user's own file took its place, and the API server of this machine has come up with that. Another control plane must not
# take this one's word when the key is wanted back.
forget_encryption() {
  [[ -d $own_encryption ]] || return 0
  ask_no_more
  poll 60 kubectl_admin annotate node "$NODE_NAME" stackadm.io/encryption- ||
    die "the API server of $NODE_NAME does not take that it reads encrypted Secrets by another file"
  rm -rf "$own_encryption" "$encryption_program" /etc/systemd/system/stackadm-encrypt.{service,timer}
  systemctl daemon-reload
}
