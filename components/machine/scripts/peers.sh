# shellcheck shell=bash disable=SC2154
# How a joining machine asks control planes: over SSH, as a user that only its certificate opens and that runs stackadm-mint only
# (mint.sh). Read by the scripts that come after this one.
# Values: PEERS, a line "ADDRESS HOST-KEY" for each control plane but this machine; JOIN_PRIVATE_KEY; JOIN_CERTIFICATE.

readonly asking=$volatile/join
# What was given for this join; nothing while nobody was asked.
token='' certificate_key=''

# Whoever asks takes its key away at the end.
prepare_to_ask() {
  mkdir -p "$asking"
  write "$asking/key" 0600 "$JOIN_PRIVATE_KEY"
  write "$asking/key-cert.pub" 0644 "$JOIN_CERTIFICATE"$'\n'
  write "$asking/known_hosts" 0644 "$PEERS"$'\n'
  trap 'failed; rm -rf "$asking"' EXIT
}

# ask_peers SECONDS WORD...: the first control plane that serves answers; `asked` is its address. 255: none is there, 69: the
# API server of none that is there answers, 124: none answers within SECONDS times the factor. Each control plane has this time.
ask_peers() {
  local limit=$1 address code=255
  shift
  while read -r address _; do
    [[ -n $address ]] || continue
    code=0
    # shellcheck disable=SC2034 # read by the scripts that come after this one
    asked=$address
    timeout "$((limit * factor))" ssh -F none -i "$asking/key" -o IdentitiesOnly=yes -o BatchMode=yes -o ConnectTimeout="$((5 * factor))" \
      -o UserKnownHostsFile="$asking/known_hosts" -o GlobalKnownHostsFile=/dev/null \
      -o StrictHostKeyChecking=yes -o HostKeyAlgorithms=ssh-ed25519 \
      "stackadm-join@$address" "$@" </dev/null || code=$?
    case $code in 255 | 69 | 124) ;; *) return "$code" ;; esac
  done <<<"$PEERS"
  return "$code"
}

# ask_for_token [SECONDS]: asks to be let in. Sets `token`, `authority` and, where this machine may have it, `certificate_key`. One that
# hangs leaves time for the others before whoever asks gives up.
ask_for_token() {
  ask_peers "${1:-60}" token >"$asking/answer" || return 1
  # shellcheck disable=SC2034 # read by the scripts that come after this one
  read -r token authority certificate_key <"$asking/answer"
}

# fill_in DOCUMENT: puts what was answered, and the bound of kubeadm's own waits, into a kubeadm document. No value stands in a command
# line.
fill_in() {
  local document=${1//@TOKEN@/$token}
  document=${document//@TIMEOUT@/$(kubeadm_timeout)}
  document=${document//@CA_CERT_HASH@/$authority}
  printf '%s' "${document//@CERTIFICATE_KEY@/$certificate_key}"
}

# Returns when a control plane sees the node Ready, which then forgets what it gave for the join: the next machine is replaced after that.
# A control plane waits 180 s for it, and an API server that has much to do may not answer at once.
await_ready() {
  local code=''
  poll 180 joined || :
  case $code in
    0) ;;
    1) die_as NOT_READY "$NODE_NAME joined, but did not become Ready within $((180 * factor)) s; kubectl describe node $NODE_NAME says why, and the next up looks again$(absent_image)" ;;
    *) die "no control plane says whether $NODE_NAME is Ready; the next up asks again" ;;
  esac
}

# joined: sets `code` to the answer; fails where another one may come.
joined() {
  code=0
  ask_peers 240 joined "${token%%.*}" || code=$?
  # A control plane that does not answer is overloaded or restarts: more questions would slow it down.
  case $code in 69 | 255) sleep 5 ;; esac
  case $code in 1 | 69 | 124 | 255) return 1 ;; esac
}

# authority_of FILE: the certificate as kubeadm pins it.
authority_of() {
  printf 'sha256:'
  openssl x509 -pubkey -noout -in "$1" | openssl pkey -pubin -outform der |
    openssl dgst -sha256 -r | cut -d' ' -f1 | tr -d '\n'
}
