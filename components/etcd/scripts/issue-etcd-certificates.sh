# shellcheck shell=bash disable=SC2154
# Installed on etcd's machines as /usr/local/sbin/stackadm-mint. sshd runs it for the user
# stackadm-join, whose certificate fixes all arguments but the last (identity/join-certificate.ts):
# GRANT NODE SERVER-ID ADDRESS WORDS.
# GRANT is what the machine may request: `membership` for one of etcd's machines, `certificates` for
# a control plane.
# WORDS "member": removes what a former server at that address, or an interrupted join, left in
#   etcd; adds the machine as a learner; prints INITIAL-CLUSTER CA CA-KEY, the latter two in base64.
# WORDS "promote": makes the machine a voting member.
# WORDS "client REQUEST": signs a client certificate for a request (base64 of PEM); prints
#   CERTIFICATE CA, in base64.
# Exits with 69 if its own etcd does not answer: the caller may ask another member.
set -euo pipefail
readonly pki=/etc/kubernetes/pki/etcd

etcdctl() {
  local container
  container=$(timeout "$((20 * factor))" crictl ps --quiet --state running --name '^etcd$')
  [[ -n $container ]] || return 69
  timeout "$((30 * factor))" crictl exec "${container%%$'\n'*}" etcdctl --endpoints=https://127.0.0.1:2379 \
    --cacert="$pki/ca.crt" --cert="$pki/server.crt" --key="$pki/server.key" "$@"
}

# Removes the machine's former member and any learner. Machines join one by one, so that a learner
# is what an interrupted join left, and etcd admits only one at a time.
remove_former_members() {
  local id ids
  mapfile -t ids < <(awk -F', ' -v peer="$peer" '$4 == peer || $6 == "true" { print $1 }' <<<"$members")
  for id in "${ids[@]}"; do etcdctl member remove "$id" >/dev/null; done
}

admit_member() {
  local cluster
  remove_former_members
  cluster=$(etcdctl member add "$node" --learner --peer-urls="$peer" | sed -n 's/^ETCD_INITIAL_CLUSTER="\(.*\)"$/\1/p')
  [[ -n $cluster ]]
  printf '%s %s %s\n' "$cluster" "$(base64 -w0 "$pki/ca.crt")" "$(base64 -w0 "$pki/ca.key")"
}

promote() {
  local id
  id=$(awk -F', ' -v peer="$peer" '$4 == peer && $6 == "true" { print $1 }' <<<"$members")
  [[ -z $id ]] || etcdctl member promote "$id" >/dev/null
}

# Signs a client certificate of the API server with kubeadm's name for it, whatever the request
# says. It is valid for almost 10 years, like kubeadm's CA, because no upgrade renews it.
sign_client() {
  local certificate
  certificate=$(base64 -d <<<"$1" | openssl x509 -req -CA "$pki/ca.crt" -CAkey "$pki/ca.key" \
    -subj /CN=kube-apiserver-etcd-client -days 3649 -set_serial "0x$(openssl rand -hex 16)" -extfile <(
      printf '%s\n' basicConstraints=critical,CA:FALSE keyUsage=critical,digitalSignature,keyEncipherment extendedKeyUsage=clientAuth
    ) 2>/dev/null | base64 -w0)
  printf '%s %s\n' "$certificate" "$(base64 -w0 "$pki/ca.crt")"
}

[[ $# -eq 5 ]] || exit 64
readonly grant=$1 node=$2 server=$3 address=$4
[[ $node =~ ^[a-z0-9][a-z0-9-]{0,62}$ && $server =~ ^[0-9a-f-]{36}$ && $address =~ ^[0-9a-f.:]+$ ]] || exit 64
readonly peer="https://$address:2380"
read -r verb word rest <<<"$5"
[[ -z $rest && $word =~ ^[A-Za-z0-9+/=]*$ ]] || exit 64
etcdctl endpoint health >/dev/null 2>&1 || exit 69
members=$(etcdctl member list) || exit 69
case "$grant $verb" in
  "membership member") admit_member ;;
  "membership promote") promote ;;
  "certificates client") sign_client "$word" ;;
  *) exit 64 ;;
esac
