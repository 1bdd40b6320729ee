# shellcheck shell=bash
# Encrypts Secrets in etcd, with the same key on all control planes. A control plane starts to
# encrypt only after all control planes can decrypt. Library of control-plane.sh.
# Values: ENCRYPTION, "DIGEST ENCRYPTS PLAIN" (kubeadm/secrets-encryption.ts), where ENCRYPTS and
# PLAIN are files in base64; empty: no encryption. ENCRYPTION_SCRIPT, the program that starts to
# encrypt (start-encryption.sh).

readonly own_encryption=/etc/kubernetes/stackadm-encryption encryption_program=/usr/local/sbin/stackadm-encrypt
readonly encryption_timer=/etc/systemd/system/stackadm-encrypt.timer

# write_encryption encrypts|plain: writes the API server's encryption configuration before kubeadm
# writes the manifest. With `encrypts`, the API server encrypts Secrets, so all API servers must be
# able to decrypt. With `plain`, the API server can decrypt, but stores Secrets without encryption.
# Keeps an existing file, which this function or start-encryption.sh has written.
write_encryption() {
  local digest encrypts plain file
  [[ -n $ENCRYPTION ]] || return 0
  read -r digest encrypts plain <<<"$ENCRYPTION"
  file=$own_encryption/$digest.yaml
  [[ ! -e $file ]] || return 0
  create_encryption_directory
  if [[ $1 == encrypts ]]; then plain=$encrypts; fi
  base64 -d <<<"$plain" | write "$file" 0600
}

create_encryption_directory() {
  { mkdir -p "$own_encryption" && chmod 0700 "$own_encryption"; } || die "cannot create $own_encryption"
}

# Succeeds if another control plane confirms that all control planes can decrypt.
can_all_decrypt() {
  local digest
  [[ -n $ENCRYPTION ]] || return 1
  read -r digest _ <<<"$ENCRYPTION"
  ask_peers 60 encrypts "$digest"
}

# Marks this node as able to decrypt, because the manifest of its API server now contains the path
# of the encryption file. Starts to encrypt as soon as all control planes can decrypt.
converge_encryption() {
  local digest encrypts
  if [[ -z $ENCRYPTION ]]; then
    remove_encryption
    return
  fi
  read -r digest encrypts _ <<<"$ENCRYPTION"
  write "$encryption_program" 0755 "$ENCRYPTION_SCRIPT"
  base64 -d <<<"$encrypts" | write "$own_encryption/$digest.encrypts" 0600
  poll 60 kubectl_admin annotate node "$NODE_NAME" --overwrite "stackadm.io/encryption=$digest" ||
    die "the API server of $NODE_NAME did not store that it reads encrypted Secrets"
  # Stops the timer if this API server already encrypts, for example because the cluster was created
  # with encryption.
  if same_file "$own_encryption/$digest.encrypts" "$own_encryption/$digest.yaml"; then
    stop_encryption_timer
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
  # The timer repeats the program until all control planes have the key. Then the program stops the
  # timer.
  "$encryption_program" settle "$digest" || systemctl enable --now stackadm-encrypt.timer
}

stop_encryption_timer() { [[ ! -e $encryption_timer ]] || systemctl disable --now "${encryption_timer##*/}" || :; }

# Deletes the key after this machine's API server has started with the user's encryption
# configuration. Also deletes the node's annotation: if the same key is used again later, other
# control planes must not trust an old annotation.
remove_encryption() {
  [[ -d $own_encryption ]] || return 0
  stop_encryption_timer
  poll 60 kubectl_admin annotate node "$NODE_NAME" stackadm.io/encryption- ||
    die "the API server of $NODE_NAME did not store that it reads encrypted Secrets with another file"
  rm -rf "$own_encryption" "$encryption_program" /etc/systemd/system/stackadm-encrypt.{service,timer}
  systemctl daemon-reload
}
