# shellcheck shell=bash disable=SC2154
# Lies on control planes as /usr/local/sbin/stackadm-mint. What sshd runs for the user stackadm-join, whose certificate says all
# but the last argument (identity/join-certificate.ts): GRANT NODE SERVER-ID ADDRESS WORDS.
# GRANT is what the machine may have: `token`, or `certificates` for one that becomes a control plane.
# WORDS "token": prints a bootstrap token that lives 15 minutes, times the machine's timeout factor, and may be used at once, the authority's hash and, for
#   `certificates`, the key to the cluster's certificates. What a former server of that name, or a join that was broken off,
#   left goes first: its node, which kubeadm refuses to join over, and its etcd member, without which etcd could lose its majority.
#   A worker whose node is Ready on that server has nothing to join and gets none.
# WORDS "forget [TOKEN-ID]": forgets what was given to this machine.
# WORDS "member": ends with 3 when etcd does not know the machine.
# WORDS "encrypts DIGEST": ends with 3 unless every control plane reads what is encrypted with that key (encrypt.sh).
# WORDS "files": prints a line "NAME BASE64" for each file that flags of the API server name, for one that becomes a control plane;
#   NAME is stackadm-encryption/... for the file with the key, which is no more than the authority's that it is given anyway. And a
#   line "kept/NAME" for all that the cluster was given by this one: it may not be asked for any more.
# WORDS "retire", "restore": takes the pods from the machine's node while its kubelet changes, and gives it back (retire.sh). Ends
#   with 4 and says what blocks it when they do not go.
# WORDS "joined [TOKEN-ID]": the same; comes back when the node is Ready, with 1 when it is not in time.
# Ends with 69 when its own API server does not answer: another control plane may be asked.
# stackadm-mint spread, stackadm-mint approve NODE TOKEN-ID: units of its own, not for joining machines, which always come with five
# arguments.
set -euo pipefail
export KUBECONFIG=/etc/kubernetes/admin.conf
readonly pki=/etc/kubernetes/pki
# With it, whoever has a token gets the certificate of any node, a control plane's as well. kubeadm brings it back with an upgrade.
readonly automatic=kubeadm:node-autoapprove-bootstrap

signed() {
  [[ -n $(timeout "$((10 * factor))" kubectl -n kube-public get configmap cluster-info -o "jsonpath={.data.jws-kubeconfig-$1}") ]]
}

# A machine that is a node asks for no token: a key that was stolen there would delete the node. One that joins again resets itself
# first, so that its node is not Ready any more after a while.
forget_former() {
  local found provider ready
  found=$(timeout "$((30 * factor))" kubectl get "node/$node" "clusterrolebinding/$automatic" --ignore-not-found \
    -o go-template='{{range .items}}{{if eq .kind "Node"}}{{or .spec.providerID "-"}} {{range .status.conditions}}{{if eq .type "Ready"}}{{.status}}{{end}}{{end}}{{else}}automatic{{end}}{{"\n"}}{{end}}')
  while read -r provider ready; do
    case "$grant $provider $ready" in
      "$grant  ") ;;
      "$grant automatic ") timeout "$((60 * factor))" kubectl delete clusterrolebinding "$automatic" --ignore-not-found >/dev/null ;;
      "token openstack:///$server True")
        printf '%s is a node already, and Ready\n' "$node" >&2
        exit 1
        ;;
      *) timeout "$((60 * factor))" kubectl delete node "$node" --ignore-not-found >/dev/null ;;
    esac
  done <<<"$found"
}

etcdctl() {
  timeout "$((30 * factor))" kubectl -n kube-system exec "etcd-$(hostname)" -c etcd -- etcdctl --endpoints=https://127.0.0.1:2379 \
    --cacert="$pki/etcd/ca.crt" --cert="$pki/etcd/server.crt" --key="$pki/etcd/server.key" "$@"
}

# By its address: a member that never started has no name.
member_id() { etcdctl member list | awk -F', ' -v peer="https://$address:2380" '$4 == peer { print $1 }'; }

# Where etcd has machines of its own, no control plane is a member.
stacked() {
  local configuration
  configuration=$(timeout "$((30 * factor))" kubectl -n kube-system get configmap kubeadm-config -o 'jsonpath={.data.ClusterConfiguration}') || exit 69
  ! grep -q '^  external:' <<<"$configuration"
}

is_member() {
  local id
  stacked || return 0
  id=$(member_id) || exit 69
  [[ -n $id ]]
}

# Whoever asks for certificates is to begin with an empty etcd.
forget_member() {
  local id
  stacked || return 0
  id=$(member_id)
  [[ -z $id ]] || etcdctl member remove "$id" >/dev/null
}

# Under a key of their own for each join; kubeadm deletes them after two hours, and `joined` before.
offer_certificates() {
  local key document
  key=$(kubeadm certs certificate-key)
  document=$(mktemp /run/stackadm-certificates.XXXXXX)
  {
    timeout "$((30 * factor))" kubectl -n kube-system get configmap kubeadm-config -o 'jsonpath={.data.ClusterConfiguration}'
    printf -- '---\napiVersion: kubeadm.k8s.io/v1beta4\nkind: InitConfiguration\ncertificateKey: %s\n' "$key"
  } >"$document"
  if ! timeout "$((60 * factor))" kubeadm init phase upload-certs --upload-certs --config "$document" >/dev/null; then
    rm -f "$document"
    return 1
  fi
  rm -f "$document"
  printf '%s' "$key"
}

forget_certificates() {
  local id
  timeout "$((30 * factor))" kubectl -n kube-system delete secret kubeadm-certs --ignore-not-found >/dev/null
  for id in $(kubeadm token list -o 'jsonpath={.token} {.description}{"\n"}' | awk '/managing TTL for the kubeadm-certs/ { print substr($1, 1, 6) }'); do
    timeout "$((30 * factor))" kubeadm token delete "$id" >/dev/null
  done
}

authority() {
  printf 'sha256:'
  openssl x509 -pubkey -noout -in "$pki/ca.crt" | openssl pkey -pubin -outform der | openssl dgst -sha256 -r | cut -d' ' -f1 | tr -d '\n'
}

hand_out_token() {
  local token id certificate_key=''
  forget_former
  case $grant in
    token) ;;
    certificates)
      forget_member
      certificate_key=$(offer_certificates)
      ;;
  esac
  token=$(timeout "$((30 * factor))" kubeadm token create --ttl "$((15 * factor))m" --description "join of $node" 2>/dev/null)
  id=${token%%.*}
  systemd-run --quiet --collect --unit "stackadm-approve-$id" -p RuntimeMaxSec="$((900 * factor))" /bin/bash "$0" approve "$node" "$id"
  # The joining machine looks for the signature only every 5 s: hand the token out when it is there.
  for ((try = 0; try < 60; try++)); do
    if signed "$id"; then
      printf '%s %s %s\n' "$token" "$(authority)" "$certificate_key"
      return
    fi
    sleep 0.2
  done
  exit 1
}

# The joining kubelet asks for its certificate with the token, and kubeadm waits for that: approved beside it, and only if the token
# is this one and the node is the one that it was given for. What is not meant for this node is denied; other requests are not
# looked at. That nothing else stands in the certificate, the API server's signer sees to. One join needs one certificate.
approve() {
  local node=$1 id=$2 name request subject end=$((SECONDS + 900 * factor))
  while ((SECONDS < end)); do
    while read -r name request; do
      subject=$(base64 -d <<<"$request" | openssl req -noout -subject -nameopt RFC2253) || continue
      if [[ $subject == "subject=CN=system:node:$node,O=system:nodes" ]]; then
        if timeout "$((30 * factor))" kubectl certificate approve "$name"; then return; fi
      else
        printf 'the join of %s asks for another certificate (%s)\n' "$node" "$subject" >&2
        timeout "$((30 * factor))" kubectl certificate deny "$name" || :
      fi
    done < <(timeout "$((900 * factor))" kubectl get certificatesigningrequests --watch \
      --field-selector spec.signerName=kubernetes.io/kube-apiserver-client-kubelet \
      -o go-template="{{if and (eq .spec.username \"system:bootstrap:$id\") (not .status.conditions)}}{{.metadata.name}} {{.spec.request}}{{\"\n\"}}{{end}}")
    sleep 0.2
  done
}

# Every node can read its public half in the request for a certificate: none ends the join of another one by it.
delete_token() {
  [[ $(timeout "$((30 * factor))" kubectl -n kube-system get secret "bootstrap-token-$1" --ignore-not-found \
    -o 'go-template={{base64decode .data.description}}') == "join of $node" ]] || return 1
  systemctl stop --no-block "stackadm-approve-$1.service" 2>/dev/null || :
  timeout "$((30 * factor))" kubeadm token delete "$1" >/dev/null
}

forget_token() {
  [[ -n $1 ]] || return 0
  delete_token "$1" ||
    printf 'the token of %s was not deleted; it ends by itself in %s minutes\n' "$node" "$((15 * factor))" >&2
  [[ $grant != certificates ]] || forget_certificates
}

# While no node at all is Ready there is no pod network yet, and it may be made only after this: then nobody waits.
await_ready() {
  local states end=$((SECONDS + 180))
  while ((SECONDS < end)); do
    if states=$(timeout "$((10 * factor))" kubectl get nodes -o 'jsonpath={range .items[*]}{.metadata.name}={.status.conditions[?(@.type=="Ready")].status}{"\n"}{end}'); then
      if grep -qx "$1=True" <<<"$states" || ! grep -q '=True$' <<<"$states"; then return 0; fi
    fi
    # Told, not asked again and again: this machine has others to let in. Not for long: the others may be Ready no more.
    timeout "$((20 * factor))" kubectl wait --for=condition=Ready "node/$1" --timeout=10s >/dev/null 2>&1 || sleep 1
  done
  return 1
}

# CoreDNS starts on the first machine that takes pods, and no replica moves by itself when others come. Deletes one of them
# when all run on one machine and another takes pods. Succeeds when there is nothing left to do.
spread() {
  local pods homes others
  pods=$(timeout "$((10 * factor))" kubectl -n kube-system get pods -l k8s-app=kube-dns --field-selector status.phase=Running \
    -o go-template='{{range .items}}{{if not .metadata.deletionTimestamp}}{{.spec.nodeName}} {{.metadata.name}}{{"\n"}}{{end}}{{end}}') || return 1
  [[ $pods == *$'\n'* ]] || return 1
  homes=$(cut -d' ' -f1 <<<"$pods" | sort -u)
  [[ $homes != *$'\n'* ]] || return 0
  others=$(timeout "$((10 * factor))" kubectl get nodes -o 'jsonpath={range .items[*]}{.metadata.name}={.status.conditions[?(@.type=="Ready")].status}={.spec.taints}{"\n"}{end}') || return 1
  grep -v "^$homes=" <<<"$others" | grep -q '=True=$' || return 1
  timeout "$((60 * factor))" kubectl -n kube-system delete pod "${pods##* }" --wait=false
}

if [[ $* == spread ]]; then
  for ((try = 0; try < 60; try++)); do
    if spread; then exit 0; fi
    sleep 5
  done
  exit 0
fi

if [[ $# -eq 3 && $1 == approve ]]; then
  approve "$2" "$3"
  exit 0
fi

[[ $# -eq 5 ]] || exit 64
readonly grant=$1 node=$2 server=$3 address=$4
# Machines of etcd have a key by the same signer, for etcd's.
[[ $grant == token || $grant == certificates ]] || exit 64
[[ $node =~ ^[a-z0-9][a-z0-9-]{0,62}$ && $server =~ ^[0-9a-f-]{36}$ && $address =~ ^[0-9a-f.:]+$ ]] || exit 64
read -r verb token_id rest <<<"$5"
[[ -z $rest && $token_id =~ ^([a-z0-9]{6}|[0-9a-f]{12})?$ ]] || exit 64
[[ $(timeout "$((10 * factor))" kubectl get --raw /readyz) == ok ]] || exit 69
case $verb in
  token) hand_out_token ;;
  forget) forget_token "$token_id" ;;
  member) is_member || exit 3 ;;
  retire | restore) exec /usr/local/sbin/stackadm-retire "$verb" "$node" ;;
  encrypts) /usr/local/sbin/stackadm-encrypt readable "$token_id" || exit 3 ;;
  files)
    [[ $grant == certificates ]] || exit 64
    for file in /etc/kubernetes/stackadm/* /etc/kubernetes/stackadm-encryption/*.yaml; do
      name=${file#/etc/kubernetes/}
      [[ ! -e $file ]] || printf '%s %s\n' "${name#stackadm/}" "$(base64 -w0 "$file")"
    done
    for file in /var/lib/stackadm/kept-*; do [[ ! -e $file ]] || printf 'kept/%s\n' "${file##*/kept-}"; done
    ;;
  joined)
    forget_token "$token_id"
    # A node that is not there yet is marked in a minute.
    [[ ! -x /usr/local/sbin/stackadm-marks ]] || /usr/local/sbin/stackadm-marks >&2 || :
    await_ready "$node" || exit 1
    # One unit of that name at a time: several machines join at once, and one replica is to move.
    systemd-run --quiet --collect --unit stackadm-spread -p RuntimeMaxSec="$((900 * factor))" /bin/bash "$0" spread 2>/dev/null || :
    ;;
  *) exit 64 ;;
esac
