# shellcheck shell=bash
# Requests the credentials for a join from other machines (peers) over SSH. Logs in as the user
# stackadm-join. sshd on the peer accepts this login only with the SSH certificate of this machine,
# and runs only stackadm-mint (issue-join-credentials.sh; on etcd machines
# issue-etcd-certificates.sh). Library of join-node.sh, control-plane.sh, client-certificate.sh and
# etcd-member.sh.
# Values: PEERS, a line "ADDRESS HOST-KEY" for each peer; JOIN_PRIVATE_KEY; JOIN_CERTIFICATE.

readonly join_directory=$volatile/join
# Credentials for this join. Empty until a control plane has sent them.
token='' certificate_key=''

# Writes key, certificate and known_hosts for SSH. An exit trap deletes these files.
write_ssh_files() {
  mkdir -p "$join_directory"
  write "$join_directory/key" 0600 "$JOIN_PRIVATE_KEY"
  write "$join_directory/key-cert.pub" 0644 "$JOIN_CERTIFICATE"$'\n'
  write "$join_directory/known_hosts" 0644 "$PEERS"$'\n'
  trap 'report_failure; rm -rf "$join_directory"' EXIT
}

# ask_peers SECONDS WORD...: sends the request WORD... to one peer after another until a peer
# answers within SECONDS times `factor`. Sets `peer_address` to the address of this peer, and
# returns the exit code of its answer. If no peer answers, returns the code of the last peer: 255
# (not reachable), 69 (its API server does not answer) or 124 (no answer within the time).
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
# this machine may receive the key. SECONDS (default 60) is the time for each control plane. It is
# short, so that time remains for other control planes if one control plane hangs.
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

# Waits until a control plane reports that the node of this machine is Ready. The control plane also
# deletes the credentials of the join. Pulumi replaces the next machine only after this script. Each
# request waits up to 180 s for the node, and a busy API server may not answer at once.
await_ready() {
  local code=''
  poll 180 report_joined || :
  case $code in
    0) ;;
    1) die_as NOT_READY "$NODE_NAME joined, but did not become Ready within $((180 * factor)) s; kubectl describe node $NODE_NAME says why, and the next up looks again$(print_missing_image)" ;;
    *) die "no control plane says whether $NODE_NAME is Ready; the next up asks again" ;;
  esac
}

# Asks a control plane whether the node is Ready, and sets `code` to the exit code of the answer.
# Writes what the control plane prints to the file `network`. Fails if another request may get
# another answer.
report_joined() {
  code=0
  ask_peers 240 joined "${token%%.*}" >"$join_directory/network" || code=$?
  # Codes 69 and 255: the control plane is overloaded or restarts. Waits, because frequent requests
  # would slow it down.
  case $code in 69 | 255) sleep 5 ;; esac
  case $code in 1 | 69 | 124 | 255) return 1 ;; esac
}

# authority_of FILE: prints the hash of a CA certificate's public key in the format of kubeadm's
# option --discovery-token-ca-cert-hash.
authority_of() {
  printf 'sha256:'
  openssl x509 -pubkey -noout -in "$1" | openssl pkey -pubin -outform der |
    openssl dgst -sha256 -r | cut -d' ' -f1 | tr -d '\n'
}
