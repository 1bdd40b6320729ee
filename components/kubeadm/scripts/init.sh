# shellcheck shell=bash disable=SC2154
# Makes this machine the first control plane of a cluster, or finds that it is, and hands out what the others need.
# Result: {"caCertHash", "kubeconfig" (base64), "uid"}.
# States: done -> facts; running -> wait for it; half done -> reset and again; nothing -> kubeadm init.
# Values: see initValues in kubeadm/control-plane.ts.

readonly admin=/etc/kubernetes/admin.conf

init() {
  require NODE_NAME KUBEADM_CONFIG FROZEN JOIN_PUBLIC_KEY MINT_SCRIPT NODE_RANGE KUBELET
  if [[ -e $state/init.done ]]; then
    keep_frozen
  else
    create_cluster
  fi
  poll 240 answers || die "the API server of $NODE_NAME does not answer"
  offer_tokens
  printf '{"caCertHash": "%s", "kubeconfig": "%s", "uid": "%s"}\n' \
    "$(ca_cert_hash)" "$(base64 -w0 "$admin")" "$(cluster_uid)" >&4
}

create_cluster() {
  if ! unit_running init; then
    if half_done; then
      say "$NODE_NAME: starting again after an interrupted kubeadm init"
      timeout 120 kubeadm reset -f
      rm -rf /etc/kubernetes/pki /var/lib/etcd/member
    fi
    printf '%s' "$KUBEADM_CONFIG" | write "$volatile/kubeadm.yaml" 0600
    printf '%s\n' "$FROZEN" | write "$state/frozen" 0600
    say "$NODE_NAME: kubeadm init"
    start_unit init 420 /bin/sh -c "kubeadm init --config $volatile/kubeadm.yaml && touch $state/init.done"
  fi
  wait_unit init 430
  rm -f "$volatile/kubeadm.yaml"
  [[ -e $state/init.done ]] || die "kubeadm init did not succeed"
  poll 60 answers || die "the API server does not answer after kubeadm init"
  forget_tokens
}

# What a living cluster cannot change: say which, with both values.
keep_frozen() {
  local changed
  printf '%s\n' "$FROZEN" >"$volatile/frozen"
  if cmp -s "$state/frozen" "$volatile/frozen"; then return; fi
  changed=$({ diff "$state/frozen" "$volatile/frozen" || :; } | grep '^[<>]' | tr '\n' ' ')
  die "a living cluster keeps these values (< is what it has, > is what was written): $changed"
}

kubectl_admin() { timeout 20 kubectl --kubeconfig "$admin" "$@"; }

answers() { [[ $(kubectl_admin get --raw /readyz) == ok ]]; }

# kubeadm init leaves a token that nobody needs.
forget_tokens() {
  local id
  for id in $(kubeadm token list -o jsonpath='{.token}{"\n"}' | cut -d. -f1); do
    kubeadm token delete "$id"
  done
}

ca_cert_hash() {
  printf 'sha256:'
  openssl x509 -pubkey -noout -in /etc/kubernetes/pki/ca.crt | openssl pkey -pubin -outform der |
    openssl dgst -sha256 -r | cut -d' ' -f1 | tr -d '\n'
}

cluster_uid() { kubectl_admin get namespace kube-system -o jsonpath='{.metadata.uid}'; }

# A joining machine logs in as stackadm-join with a key that can do one thing: run stackadm-mint.
offer_tokens() {
  local home=$state-join
  printf '%s' "$MINT_SCRIPT" | write /usr/local/sbin/stackadm-mint 0755
  id stackadm-join || useradd --system --create-home --home-dir "$home" --shell /bin/sh stackadm-join
  # "*": no password, but not locked, so that sshd accepts the key whether or not it uses PAM.
  usermod -p '*' stackadm-join
  write /etc/sudoers.d/stackadm-join 0440 <<<'stackadm-join ALL=(root) NOPASSWD: /usr/local/sbin/stackadm-mint'
  write "$home/.ssh/authorized_keys" <<ENTRY
restrict,from="$NODE_RANGE",command="sudo -n /usr/local/sbin/stackadm-mint \"\$SSH_ORIGINAL_COMMAND\"" $JOIN_PUBLIC_KEY
ENTRY
  chmod 0755 "$home" "$home/.ssh"
}

run_step init init
