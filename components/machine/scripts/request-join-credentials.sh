# shellcheck shell=bash
# Requests the credentials for a join from other machines over SSH. Logs in as stackadm-join, a user
# that accepts only the SSH certificate of the machine and runs only stackadm-mint
# (issue-join-credentials.sh, on etcd machines issue-etcd-certificates.sh). Library of join-node.sh,
# control-plane.sh, client-certificate.sh and etcd-member.sh.
# Values: PEERS, a line "ADDRESS HOST-KEY" for each machine that answers requests; JOIN_PRIVATE_KEY;
# JOIN_CERTIFICATE.

readonly join_directory=$volatile/join
# Credentials for this join. Empty until a control plane has sent them.
token='' certificate_key=''

# Writes the files for SSH. An exit trap deletes the files.
write_ssh_files() {
  mkdir -p "$join_directory"
  write "$join_directory/key" 0600 "$JOIN_PRIVATE_KEY"
  write "$join_directory/key-cert.pub" 0644 "$JOIN_CERTIFICATE"$'\n'
  write "$join_directory/known_hosts" 0644 "$PEERS"$'\n'
  trap 'report_failure; rm -rf "$join_directory"' EXIT
}

# ask_peers SECONDS WORD...: sends a request to one peer after another until a peer answers within
# SECONDS times `factor`. Returns the exit code of the answer, and sets `peer_address` to the
# address of the last peer. If no peer answers, returns the last code: 255: the peer is not
# reachable, 69: its API server does not answer, 124: no answer in time.
ask_peers() {
  local limit=$1 address code=255
  shift
  while read -r address _; do
    [[ -n $address ]] || continue
    code=0
    # shellcheck disable=SC2034 # read by the scripts that come after this one
    peer_address=$address
    timeout "$((limit * factor))" ssh -F none -i "$join_directory/key" -o IdentitiesOnly=yes -o BatchMode=yes -o ConnectTimeout="$((5 * factor))" \
      -o UserKnownHostsFile="$join_directory/known_hosts" -o GlobalKnownHostsFile=/dev/null \
      -o StrictHostKeyChecking=yes -o HostKeyAlgorithms=ssh-ed25519 \
      "stackadm-join@$address" "$@" </dev/null || code=$?
    case $code in 255 | 69 | 124) ;; *) return "$code" ;; esac
  done <<<"$PEERS"
  return "$code"
}

# ask_for_token [SECONDS]: requests a token. Sets `token` and `authority`, and `certificate_key` if
# this machine may receive the key. SECONDS is short. If one control plane hangs, time remains to
# ask the other control planes.
ask_for_token() {
  ask_peers "${1:-60}" token >"$join_directory/answer" || return 1
  # shellcheck disable=SC2034 # read by the scripts that come after this one
  read -r token authority certificate_key <"$join_directory/answer"
}

# fill_placeholders DOCUMENT: prints a kubeadm document with credentials and time limits in place of
# the placeholders. No secret appears in the arguments of a command.
fill_placeholders() {
  local document=${1//@TOKEN@/$token}
  document=${document//@TIMEOUT@/$(kubeadm_timeout)}
  document=${document//@CA_CERT_HASH@/$authority}
  printf '%s' "${document//@CERTIFICATE_KEY@/$certificate_key}"
}

# Waits until a control plane sees the node Ready. The control plane then deletes the credentials of
# the join. Pulumi replaces the next machine only afterwards. Each request waits up to 180 s for the
# node, and a busy API server may not answer at once.
await_ready() {
  local code=''
  poll 180 report_joined || :
  case $code in
    0) ;;
    1) die_as NOT_READY "$NODE_NAME joined, but did not become Ready within $((180 * factor)) s; kubectl describe node $NODE_NAME says why, and the next up looks again$(print_missing_image)" ;;
    *) die "no control plane says whether $NODE_NAME is Ready; the next up asks again" ;;
  esac
}

# Sets `code` to the answer. Fails if a later request may get another answer.
report_joined() {
  code=0
  ask_peers 240 joined "${token%%.*}" || code=$?
  # A control plane that does not answer is overloaded or restarts, and more requests would slow it
  # down.
  case $code in 69 | 255) sleep 5 ;; esac
  case $code in 1 | 69 | 124 | 255) return 1 ;; esac
}

# authority_of FILE: prints the hash of the certificate's public key, in kubeadm's notation.
authority_of() {
  printf 'sha256:'
  openssl x509 -pubkey -noout -in "$1" | openssl pkey -pubin -outform der |
    openssl dgst -sha256 -r | cut -d' ' -f1 | tr -d '\n'
}
