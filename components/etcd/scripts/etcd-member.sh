# shellcheck shell=bash
# Makes this machine an etcd member, or checks that it is a member. etcd is a static pod that
# kubeadm writes. A kubelet without an API server runs the static pod.
# Argument: `create` when Pulumi creates the resource of this script, otherwise `update`. The
# machine may start a new etcd cluster only with `create`. A recreated machine joins the other
# members or fails.
# Result: {"member": NAME}.
# States: member -> check that etcd answers; no member, or an interrupted start or join -> start a
# new etcd cluster or join through another member.
# Values: see etcdMemberVariables in etcd/member-scripts.ts.

readonly occasion=${1:-update}
readonly pki=/etc/kubernetes/pki/etcd data=/var/lib/etcd
readonly manifest=/etc/kubernetes/manifests/etcd.yaml membership=$state/etcd.done

member() {
  require NODE_NAME ADDRESS BEGINS KUBEADM_ETCD KUBELET_CONFIG JOIN_SIGNER MINT_SCRIPT NODE_RANGE KUBELET KUBERNETES_VERSION
  write_ssh_files
  restore_etcd
  run_kubelet
  if [[ ! -e $membership ]]; then become_member; fi
  poll 240 etcd_answers ||
    die "etcd on $NODE_NAME does not answer; if a majority of its members is lost, run backup and restore, or restore with an earlier backup"
  touch "$membership"
  converge_version
  converge_containerd etcd_answers
  close_etcd_data
  allow_join_requests
  run_user_script afterKubeadm "$AFTER_KUBEADM"
  print_result member "$NODE_NAME"
}

# Runs kubelet with a separate configuration, because the unit of the kubelet package waits until
# the machine joins a cluster. If kubelet does not start with the new configuration, restores the
# former configuration and fails, so that no further member changes.
run_kubelet() {
  local restart=no said config=$state/kubelet.yaml
  # An interrupted run left this file, which contains the former configuration.
  if [[ -e $former_kubelet ]]; then
    mv -f "$former_kubelet" "$config"
    restart=yes
  fi
  [[ ! -e $config ]] || write "$former_kubelet" 0600 <"$config"
  write "$config" 0644 "$KUBELET_CONFIG"$'\n'
  [[ $changed == no ]] || restart=yes
  write /etc/systemd/system/kubelet.service.d/30-stackadm-etcd.conf <<UNIT
[Service]
ExecStart=
ExecStart=/usr/bin/kubelet --config=$config
UNIT
  if [[ $restart == yes || $changed == yes ]]; then
    systemctl daemon-reload
    systemctl restart kubelet
  else
    systemctl start kubelet
  fi
  if [[ $restart == no || ! -e $former_kubelet ]]; then
    poll 120 is_kubelet_healthy || die "kubelet of $NODE_NAME does not run"
  elif ! wait_until_healthy is_kubelet_healthy; then
    said=$(journalctl --unit kubelet --lines 50 --output cat --no-pager | print_last_error)
    mv -f "$former_kubelet" "$config"
    systemctl restart kubelet || :
    wait_until_restored is_kubelet_healthy || say "$NODE_NAME: kubelet does not come up with its former configuration either"
    die_kubelet_restored "$said"
  fi
  rm -f "$former_kubelet"
}

become_member() {
  rm -f "$state/kept-version"
  if [[ $BEGINS == yes && $occasion == create ]]; then create_etcd_cluster; else join_etcd; fi
}

create_etcd_cluster() {
  say "$NODE_NAME: creating the etcd cluster"
  # Deletes data of an interrupted start. No other member depends on these data.
  delete_etcd_data
  start_member new "$NODE_NAME=https://$ADDRESS:2380"
}

join_etcd() {
  local cluster='' certificate='' key=''
  [[ -n $PEERS ]] ||
    die "$NODE_NAME was created again, and etcd had no other member, so its data are lost; run restore with a backup, or destroy --abandon and up"
  # The member that answers first removes this machine's former member from etcd. delete_etcd_data
  # must not delete the local data before that.
  poll 300 ask_to_join ||
    die "no member of etcd accepts $NODE_NAME as a member; start a majority of the members and run up again"
  delete_etcd_data
  base64 -d <<<"$certificate" | write "$pki/ca.crt"
  base64 -d <<<"$key" | write "$pki/ca.key" 0600
  say "$NODE_NAME: joining etcd"
  start_member existing "$cluster"
  poll 240 request_promotion || die "etcd does not make $NODE_NAME a voting member; the log of etcd says why: crictl logs on $NODE_NAME"
}

ask_to_join() {
  ask_peers 120 member >"$join_directory/answer" && read -r cluster certificate key <"$join_directory/answer" && [[ -n $key ]]
}

# Asks another member to promote this machine from a learner to a voting member. Fails until the
# data of this machine are up to date.
request_promotion() { ask_peers 60 promote; }

delete_etcd_data() {
  rm -f "$manifest"
  poll 90 is_etcd_stopped || die "a former etcd on $NODE_NAME does not stop"
  rm -rf "$data/member"
}

is_etcd_stopped() {
  local containers
  containers=$(list_etcd_containers) && [[ -z $containers ]]
}

list_etcd_containers() { timeout "$((20 * factor))" crictl ps --quiet --state running --name '^etcd$'; }

# start_member new|existing INITIAL-CLUSTER: creates the certificates and the static pod.
start_member() {
  local document=${KUBEADM_ETCD//@STATE@/$1} phase
  write "$volatile/etcd.yaml" 0644 "${document//@INITIAL_CLUSTER@/$2}"
  # Deletes existing certificates, because kubeadm would keep them. The CA from the other member
  # must sign new certificates.
  rm -f "$pki/server.crt" "$pki/server.key" "$pki/peer.crt" "$pki/peer.key"
  for phase in "certs etcd-ca" "certs etcd-server" "certs etcd-peer" "etcd local"; do
    # shellcheck disable=SC2086 # two words
    kubeadm init phase $phase --config "$volatile/etcd.yaml" ||
      die "kubeadm init phase $phase failed on $NODE_NAME$(print_tool_error kubeadm)"
  done
}

# etcd_answers [--cluster]: succeeds if this member is healthy; with --cluster, if all members are
# healthy.
etcd_answers() {
  local container
  container=$(list_etcd_containers) && [[ -n $container ]] &&
    timeout "$((30 * factor))" crictl exec "${container%%$'\n'*}" etcdctl --endpoints=https://127.0.0.1:2379 \
      --cacert="$pki/ca.crt" --cert="$pki/server.crt" --key="$pki/server.key" endpoint health "$@"
}

run_step member member
