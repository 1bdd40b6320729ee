# shellcheck shell=bash
# Runs on an etcd member before the server of another member is deleted. Fails unless etcd keeps a
# majority without the other member. Changes nothing: the other member remains in etcd until the new
# server joins (issue-etcd-certificates.sh), so an interrupted run needs no repair.
# Result: {"left": NAME}.
# Values: see etcdQuorumVariables in etcd/member-scripts.ts.

readonly pki=/etc/kubernetes/pki/etcd

check_quorum() {
  require NODE_NAME LEAVING_ADDRESS
  local refusal
  poll 120 keeps_quorum || die "etcd $refusal, so $NODE_NAME keeps its server; bring its other members up and run up again"
  print_result left "$NODE_NAME"
}

# Succeeds if more than half of all voting members are healthy without the leaving member. Otherwise
# sets `refusal` to the reason.
keeps_quorum() {
  local voting peer client all=0 well=0
  refusal="does not say who its members are"
  voting=$(etcdctl https://127.0.0.1:2379 member list | awk -F', ' '$6 == "false" { print $4, $5 }') && [[ -n $voting ]] || return 1
  while read -r peer client; do
    all=$((all + 1))
    [[ $peer == "https://$LEAVING_ADDRESS:2380" ]] || ! etcdctl "$client" endpoint health </dev/null || well=$((well + 1))
  done <<<"$voting"
  refusal="would have no majority: of its $all members $well are well without it"
  ((2 * well > all))
}

# etcdctl ENDPOINT WORD...: runs etcdctl in the local etcd container.
etcdctl() {
  local endpoint=$1 container
  shift
  container=$(timeout "$((20 * factor))" crictl ps --quiet --state running --name '^etcd$') && [[ -n $container ]] &&
    timeout "$((30 * factor))" crictl exec "${container%%$'\n'*}" etcdctl --endpoints="$endpoint" \
      --cacert="$pki/ca.crt" --cert="$pki/server.crt" --key="$pki/server.key" "$@"
}

run_step "leave-$NODE_NAME" check_quorum "leave-$NODE_NAME"
