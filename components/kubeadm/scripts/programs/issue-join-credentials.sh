# shellcheck shell=bash disable=SC2154
# Installed on control planes as /usr/local/sbin/stackadm-mint. sshd runs it for the user
# stackadm-join, whose certificate fixes all arguments but the last (identity/join-certificate.ts):
# GRANT NODE SERVER-ID ADDRESS WORDS.
# GRANT is what the machine may request: `token`, or `certificates` for a control plane.
# WORDS "token": prints a bootstrap token, the hash of the CA and, for `certificates`, the key to
#   the cluster's certificates. The token lives 15 minutes times the timeout factor, and works at
#   once.
#   First deletes what a former server of that name, or an interrupted join, left: its node, over
#   which kubeadm refuses to join, and its etcd member, which counts for etcd's majority.
#   A worker whose node is Ready on that server needs no join and gets no token.
# WORDS "forget [TOKEN-ID]": deletes the credentials that this machine got.
# WORDS "member": exits with 3 if etcd does not know the machine.
# WORDS "encrypts DIGEST": exits with 3 unless all control planes can decrypt with that key
#   (encrypt.sh).
# WORDS "files": for a machine that becomes a control plane, prints a line "NAME BASE64" for each
#   file that API server flags name. NAME is stackadm-encryption/... for files with the encryption
#   key: the machine gets the CA's key anyway, which protects no less.
#   Also prints a line "kept/NAME" for each setting that this one gave the cluster: it may be
#   unwanted by now.
# WORDS "retire", "restore": drains the machine's node while its kubelet is upgraded, and puts it
#   back into service (retire.sh). Exits with 4 and prints what blocks a drain.
# WORDS "joined [TOKEN-ID]": does "forget", and returns when the node is Ready; with 1 if it is not
#   in time. Keeps a worker that is not Ready yet out of the load balancers of Services, and then
#   prints `kept-out` and an address in the pod range of each other node.
# WORDS "serve": adds a worker that "joined" has kept out to the load balancers of Services, and
#   waits until they are updated.
# Exits with 69 if its own API server does not answer: the caller may ask another control plane.
# stackadm-mint spread, stackadm-mint approve NODE TOKEN-ID, stackadm-mint serve NODE: for units of
#   this program. Joining machines cannot call them, because they always have five arguments.
set -euo pipefail
export KUBECONFIG=/etc/kubernetes/admin.conf
readonly pki=/etc/kubernetes/pki range_objects=/var/lib/stackadm/pod-range-objects
# Binding by which any bootstrap token gets the certificate of any node, also of a control plane.
# kubeadm upgrade restores it.
readonly automatic=kubeadm:node-autoapprove-bootstrap

# Deletes the former node of the machine, and the binding `automatic`. Refuses while the worker's
# node is Ready on this server: otherwise a stolen key could delete it. A worker that joins again
# resets itself first, so its node is no longer Ready after a while.
delete_former_node() {
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

# Prints the ID of the machine's etcd member, found by address: a member that never started has no
# name.
member_id() { etcdctl member list | awk -F', ' -v peer="https://$address:2380" '$4 == peer { print $1 }'; }

# Reports whether etcd runs on the control planes. If it has separate machines, none of them is a
# member.
is_etcd_stacked() {
  local configuration
  configuration=$(timeout "$((30 * factor))" kubectl -n kube-system get configmap kubeadm-config -o 'jsonpath={.data.ClusterConfiguration}') || exit 69
  ! grep -q '^  external:' <<<"$configuration"
}

is_member() {
  local id
  is_etcd_stacked || return 0
  id=$(member_id) || exit 69
  [[ -n $id ]]
}

# Removes the former etcd member: a machine that requests certificates begins with an empty etcd.
remove_former_member() {
  local id
  is_etcd_stacked || return 0
  id=$(member_id)
  [[ -z $id ]] || etcdctl member remove "$id" >/dev/null
}

# Uploads the certificates and prints the new key that encrypts them. `forget` and `joined` delete
# them, kubeadm after two hours.
upload_certificates() {
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

delete_certificates() {
  local id
  timeout "$((30 * factor))" kubectl -n kube-system delete secret kubeadm-certs --ignore-not-found >/dev/null
  for id in $(kubeadm token list -o 'jsonpath={.token} {.description}{"\n"}' | awk '/managing TTL for the kubeadm-certs/ { print substr($1, 1, 6) }'); do
    timeout "$((30 * factor))" kubeadm token delete "$id" >/dev/null
  done
}

print_ca_hash() {
  printf 'sha256:'
  openssl x509 -pubkey -noout -in "$pki/ca.crt" | openssl pkey -pubin -outform der | openssl dgst -sha256 -r | cut -d' ' -f1 | tr -d '\n'
}

issue_token() {
  local token id certificate_key=''
  delete_former_node
  case $grant in
    token) ;;
    certificates)
      remove_former_member
      certificate_key=$(upload_certificates)
      ;;
  esac
  token=$(create_token 15 "join of $node" 2>/dev/null)
  id=${token%%.*}
  systemd-run --quiet --collect --unit "stackadm-approve-$id" -p RuntimeMaxSec="$((900 * factor))" /bin/bash "$0" approve "$node" "$id"
  # Waits for the token's signature: the joining machine would look for it only every 5 s.
  for ((try = 0; try < 60; try++)); do
    if is_token_signed "$id"; then
      printf '%s %s %s\n' "$token" "$(print_ca_hash)" "$certificate_key"
      return
    fi
    sleep 0.2
  done
  exit 1
}

# approve NODE TOKEN-ID: approves the certificate that the joining kubelet requests with this token,
# if it is for this node; kubeadm join waits for it. Denies other requests with the token, and
# ignores requests without it. The signer ensures that the certificate has nothing else. Returns
# after one approval.
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

# Deletes the token only if it belongs to this node: every node can read token IDs in certificate
# requests, and must not end the join of another one.
delete_token() {
  [[ $(timeout "$((30 * factor))" kubectl -n kube-system get secret "bootstrap-token-$1" --ignore-not-found \
    -o 'go-template={{base64decode .data.description}}') == "join of $node" ]] || return 1
  systemctl stop --no-block "stackadm-approve-$1.service" 2>/dev/null || :
  timeout "$((30 * factor))" kubeadm token delete "$1" >/dev/null
}

delete_credentials() {
  [[ -n $1 ]] || return 0
  delete_token "$1" ||
    printf 'the token of %s was not deleted; it ends by itself in %s minutes\n' "$node" "$((15 * factor))" >&2
  [[ $grant != certificates ]] || delete_certificates
}

# await_ready NODE: waits until the node is Ready. Returns at once if no node is: there is no pod
# network then, and it may be deployed only after the join.
await_ready() {
  local states held='' end=$((SECONDS + 180 * factor))
  while ((SECONDS < end)); do
    if states=$(timeout "$((10 * factor))" kubectl get nodes -o 'jsonpath={range .items[*]}{.metadata.name}={.status.conditions[?(@.type=="Ready")].status}{"\n"}{end}'); then
      if grep -qx "$1=True" <<<"$states" || ! grep -q '=True$' <<<"$states"; then return 0; fi
      if [[ -z $held && $grant == token ]] && grep -q "^$1=" <<<"$states"; then
        keep_out_of_load_balancers "$1"
        held=yes
      fi
    fi
    # Watches instead of polling, because other machines join as well. Only 10 s, because the others
    # may stop being Ready.
    timeout "$((20 * factor))" kubectl wait --for=condition=Ready "node/$1" --timeout=10s >/dev/null 2>&1 || sleep 1
  done
  return 1
}

# keep_out_of_load_balancers NODE: sets the label `excluded`, unless the node has it. kubelet reports
# the node as Ready before the pod network has its routes, and the cloud controller manager would
# add the node to load balancers at once. A unit deletes the label in any case, for a machine whose
# script does not come back. The unit tries again while the API server does not answer.
keep_out_of_load_balancers() {
  timeout "$((30 * factor))" kubectl label node "$1" "$excluded=$joining" >/dev/null 2>&1 || return 0
  systemd-run --quiet --collect --on-active "$((300 * factor))" --unit "stackadm-serve-$1" \
    -p Restart=on-failure -p RestartSec=30 /bin/bash "$0" serve "$1" 2>/dev/null || :
}

# add_to_load_balancers NODE: deletes the label that keep_out_of_load_balancers has set.
add_to_load_balancers() {
  local value before late=''
  value=$(timeout "$((30 * factor))" kubectl get node "$1" --ignore-not-found -o "go-template={{range \$name, \$value := .metadata.labels}}{{if eq \$name \"$excluded\"}}{{\$value}}{{end}}{{end}}")
  [[ $value == "$joining" ]] || return 0
  before=$(print_load_balancer_updates) || before=''
  timeout "$((30 * factor))" kubectl label node "$1" "$excluded-" >/dev/null
  await_load_balancers "$before" ||
    printf '%s: the load balancers of these Services may not send connections to it yet: %s\n' "$1" "${late//$'\n'/, }" >&2
}

# print_network_to_await NODE: prints `kept-out` if the node is kept out of load balancers, and then
# the first address of each pod range of the other Ready nodes. Fails if the API server does not
# answer.
print_network_to_await() {
  local nodes ranges resource='' template
  nodes=$(timeout "$((30 * factor))" kubectl get nodes -o go-template="{{range .items}}{{\$node := .}}{{range .status.conditions}}{{if and (eq .type \"Ready\") (eq .status \"True\")}}{{\$node.metadata.name}} {{or \$node.spec.podCIDR \"-\"}}{{range \$name, \$value := \$node.metadata.labels}}{{if eq \$name \"$excluded\"}} {{\$value}}{{end}}{{end}}{{\"\n\"}}{{end}}{{end}}{{end}}") || return 1
  awk -v self="$1" -v value="$joining" '$1 == self && $3 == value { found = 1 } END { exit !found }' <<<"$nodes" || return 0
  printf 'kept-out\n'
  # The file is empty if the nodes contain their pod ranges.
  [[ ! -e $range_objects ]] || read -r resource template <"$range_objects" || :
  if [[ -n $resource ]]; then
    ranges=$(timeout "$((30 * factor))" kubectl get "$resource" -o go-template="$template")
    nodes=$(awk 'NR == FNR { ready[$1] = 1; next } $1 in ready' - <(printf '%s\n' "$ranges") <<<"$nodes")
  fi
  awk -v self="$1" '$1 != self && $2 ~ /^[0-9.]+\// { sub(/\/.*/, "", $2); print $2 }' <<<"$nodes"
}

# CoreDNS starts on the first machine that takes pods, and no replica moves when others join.
# Deletes one replica if all run on one machine and another machine takes pods. Succeeds if there is
# nothing left to do.
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

if [[ $# -eq 2 && $1 == serve ]]; then
  add_to_load_balancers "$2"
  exit 0
fi

[[ $# -eq 5 ]] || exit 64
readonly grant=$1 node=$2 server=$3 address=$4
# Machines of etcd have certificates of the same signer, for the program in etcd/scripts/mint.sh.
[[ $grant == token || $grant == certificates ]] || exit 64
[[ $node =~ ^[a-z0-9][a-z0-9-]{0,62}$ && $server =~ ^[0-9a-f-]{36}$ && $address =~ ^[0-9a-f.:]+$ ]] || exit 64
read -r verb token_id rest <<<"$5"
[[ -z $rest && $token_id =~ ^([a-z0-9]{6}|[0-9a-f]{12})?$ ]] || exit 64
[[ $(timeout "$((10 * factor))" kubectl get --raw /readyz) == ok ]] || exit 69
case $verb in
  token) issue_token ;;
  forget) delete_credentials "$token_id" ;;
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
    delete_credentials "$token_id"
    # A node that does not exist yet gets its labels and taints within a minute, by the timer.
    [[ ! -x /usr/local/sbin/stackadm-marks ]] || /usr/local/sbin/stackadm-marks >&2 || :
    await_ready "$node" || exit 1
    # A fixed name, so that one unit runs at a time: several machines join at once, and one replica
    # is to move.
    systemd-run --quiet --collect --unit stackadm-spread -p RuntimeMaxSec="$((900 * factor))" /bin/bash "$0" spread 2>/dev/null || :
    # Without an answer of the API server, the machine asks again. Otherwise it would not ask to be
    # added to load balancers.
    [[ $grant != token ]] || print_network_to_await "$node" || exit 69
    ;;
  serve) [[ $grant != token ]] || add_to_load_balancers "$node" ;;
  *) exit 64 ;;
esac
