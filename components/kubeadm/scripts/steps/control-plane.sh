# shellcheck shell=bash
# Makes this machine a control plane of the cluster with `kubeadm init` or `kubeadm join`, or
# applies changed settings to an existing control plane. Prints facts about the cluster.
# Argument: `create` when Pulumi creates the resource of this script, otherwise `update`. Only with
# `create`, the first machine may run `kubeadm init`. Otherwise it joins the other control planes,
# or fails, so that a recreated machine never starts a second cluster.
# Result: {"caCertHash", "kubeconfig" (base64), "name", "node", "uid", "kubernetes" (its version)}.
# Actions by the state of the machine:
# - it is a control plane: apply changed settings
# - kubeadm runs in the background: wait until it ends
# - kubeadm init failed, but its API server answers: run kubeadm init again, which continues
# - kubeadm failed in another way: reset the machine, and run kubeadm from the beginning
# - kubeadm never ran: run kubeadm init or kubeadm join
# Values: see controlPlaneVariables in kubeadm/node-scripts.ts.

readonly admin=/etc/kubernetes/admin.conf
readonly occasion=${1:-update}
# init_digest_file: digest of the settings of an unfinished kubeadm init. first_admin: kubeconfig
# super-admin.conf, which works before kubeadm init has finished (api_answers_super_admin).
readonly init_digest_file=$state/init.begun first_admin=/etc/kubernetes/super-admin.conf

control_plane() {
  local name uid token='' peer_address='' authority='' init_started=''
  require NODE_NAME ADDRESS KUBEADM_JOIN FROZEN API_NAME CERTIFICATE_NAMES JOIN_SIGNER MINT_SCRIPT NODE_RANGE KUBELET SCHEDULABLE
  require KUBERNETES_VERSION
  write_ssh_files
  restore_certificate
  restore_manifests
  restore_upgrade_manifests
  restore_kubelet
  write_configuration_files
  write_patches
  virtual_ip
  if is_member; then write_encryption plain; else become_member; fi
  keep_frozen
  write_api_hosts "$ADDRESS"
  # Renews expired certificates before the first request to the API server, because an API server
  # with expired certificates does not answer.
  install_certificate_renewal
  await_api || die_as KUBERNETES_UNREACHABLE "the API server of $NODE_NAME does not answer"
  install_drain_program
  converge_version
  converge_containerd is_node_upgraded
  converge_certificate
  converge_configuration
  converge_encryption
  converge_kubelets
  install_certificate_approver
  close_kubelet_files
  close_etcd_data
  converge_proxy
  # Where issue-join-credentials.sh finds the pod ranges of nodes.
  write "$state/pod-range-objects" 0644 "$POD_RANGE_OBJECTS"
  allow_join_requests
  poll 30 delete_approval_binding || die "the API server of $NODE_NAME did not delete the permission to approve every node's certificate"
  apply_labels_and_taints
  poll 30 apply_schedulable || die "the API server of $NODE_NAME did not store whether pods may run on the node"
  await_virtual_ip
  # Repeats the request until the API server answers, because the result must contain name and UID.
  poll 60 read_cluster_facts || die "the API server of $NODE_NAME does not return the name of the cluster"
  # Undoes an interrupted teardown, because the control plane that ran the teardown may not exist
  # any more. A new cluster needs no such repair.
  [[ -n $init_started ]] || undo_teardown
  run_user_script afterKubeadm "$AFTER_KUBEADM"
  print_result caCertHash "$(authority_of /etc/kubernetes/pki/ca.crt)" kubeconfig "$(base64 -w0 "$admin")" \
    name "$name" node "$NODE_NAME" uid "$uid" kubernetes "$KUBERNETES_VERSION"
}

is_member() { [[ -e $state/init.done ]] || { [[ -e $state/join.done ]] && ! has_left_cluster; }; }

# Succeeds if another control plane answers that this machine is no longer a member. The cluster has
# then removed the machine's etcd member, so the machine's API server never answers, and the machine
# must join again. If no other control plane answers, the machine counts as a member.
has_left_cluster() {
  local code=0
  [[ $occasion == create && -n $PEERS ]] || return 1
  ask_peers 60 member || code=$?
  ((code == 3))
}

# Sets `name` and `uid` from the cluster, with one request. The name in the settings may
# differ, but the names of load balancers contain the name with which the cluster was created.
read_cluster_facts() {
  local said
  said=$(kubectl_admin -n kube-system get namespace/kube-system configmap/kubeadm-config \
    -o go-template='{{range .items}}{{if eq .kind "Namespace"}}uid: {{.metadata.uid}}{{else}}{{.data.ClusterConfiguration}}{{end}}{{"\n"}}{{end}}') || return 1
  name=$(print_field clusterName "$said") uid=$(print_field uid "$said")
  [[ -n $name && -n $uid ]]
}

# print_field NAME DOCUMENT: prints the value of a field. The value is one word, with or without
# quotes.
print_field() { sed -n "s/^$1: *\"\{0,1\}\([][A-Za-z0-9.:-]*\)\"\{0,1\}\$/\1/p" <<<"$2"; }

become_member() {
  if [[ -n $KUBEADM_INIT && $occasion == create ]]; then create_cluster; else join_cluster; fi
}

# reset_machine_after init|join [WHY]: deletes the files of an interrupted kubeadm (kubeadm reset).
reset_machine_after() {
  has_kubeadm_files || return 0
  say "$NODE_NAME: starting again after an interrupted kubeadm $1${2:+: $2}"
  timeout "$((120 * factor))" kubeadm reset -f
  rm -rf /etc/kubernetes/{pki,stackadm-former-certificates} /var/lib/etcd/member
}

create_cluster() {
  local started=no words=''
  if ! unit_running init; then
    write_api_hosts "$ADDRESS"
    if can_continue_init; then
      say "$NODE_NAME: the API server of an interrupted kubeadm init answers; going on with it"
      words=$(print_ignored_checks)
      # Deletes the digest: if kubeadm init fails again, the next run resets the machine instead.
      rm -f "$init_digest_file"
    else
      reset_machine_after init "$unusable"
      write "$init_digest_file" 0600 "$(print_init_digest)"
    fi
    # Deletes records of a kubeadm init that never finished, because it may have had other settings.
    rm -f "$state"/kept-*
    freeze
    write_encryption encrypts
    record_configuration_unfinished
    [[ -z $KUBELET_CONFIGURATION ]] || record_unfinished kubelet
    [[ -z $KUBE_PROXY_CONFIGURATION ]] || record_unfinished proxy
    fill_placeholders "$KUBEADM_INIT" | write "$volatile/kubeadm.yaml" 0600
    say "$NODE_NAME: kubeadm init"
    start_unit init 1500 /bin/sh -c "kubeadm init --config $volatile/kubeadm.yaml$words && $(without_resolver "$volatile/kubeadm.yaml") && touch $state/init.done"
    started=yes
  fi
  wait_unit init 1510
  rm -f "$volatile/kubeadm.yaml"
  [[ -e $state/init.done ]] || die "kubeadm init failed on $NODE_NAME$(print_kubeadm_error)$(print_flag_error)"
  rm -f "$init_digest_file"
  init_started=before
  poll 60 delete_bootstrap_tokens || die "the API server does not answer after kubeadm init"
  # Records nothing if another run started kubeadm init, because that run may have had other
  # settings.
  if [[ $started == yes ]]; then
    init_started=now
    record_configuration
    record_applied version "$KUBERNETES_VERSION"
  fi
}

# without_resolver DOCUMENTS: prints a command that removes `resolvConf` from the
# KubeletConfiguration in the cluster. If this machine runs systemd-resolved, kubeadm init sets this
# field for the kubelets of all machines. On machines without systemd-resolved, no pod would then
# start.
without_resolver() {
  # The command contains no semicolon, because systemd warns at each reload about a semicolon in the
  # command of a unit.
  printf "(! grep -q '^resolvConf:' %s || kubeadm init phase upload-config kubelet --config %s)" "$kubelet_file" "$1"
}

# Succeeds if an earlier kubeadm init with the same settings failed, but its API server answers now.
# kubeadm init can then run again without a reset: it keeps existing certificates and kubeconfigs,
# and creates or updates everything else. Otherwise sets `unusable` to the reason.
can_continue_init() {
  unusable=''
  has_kubeadm_files && [[ -e $init_digest_file ]] || return 1
  unusable='it had other settings'
  file_equals "$init_digest_file" "$(print_init_digest)" || return 1
  unusable='its API server does not answer'
  [[ -e $first_admin ]] && poll 60 api_answers_super_admin
}

# Succeeds if this machine's API server is ready. Uses super-admin.conf, because kubeadm init
# creates the role binding of admin.conf only after the API server answers.
api_answers_super_admin() {
  [[ $(timeout "$((20 * factor))" kubectl --kubeconfig "$first_admin" --server "https://$ADDRESS:6443" get --raw /readyz) == ok ]]
}

# Prints a digest of the settings of kubeadm init. The settings themselves are not stored, because
# they contain the encryption key. The digest ignores times and patches that depend on
# timeoutFactor, so that kubeadm init on a slow machine can continue with a larger factor.
print_init_digest() {
  printf '%s\n' "$KUBEADM_INIT" "$CONFIGURATION_FILES" "$PATCHES" "$ENCRYPTION" |
    sed -E '/- name: (leader-elect-|node-monitor-grace-period|etcd-(health|ready)check-timeout)/ { N; d; }; /^node(LeaseDurationSeconds|StatusUpdateFrequency):/d; /^patches:$/ { N; d; }; /^kube-[a-z-]*-slow\+/d; /^$/d' | sha256sum
}

# Prints the option that makes kubeadm init ignore preflight checks that fail on a machine with a
# running control plane: used ports and existing files. Prints nothing if the user's list contains
# `all`, because kubeadm does not accept `all` together with names of checks.
print_ignored_checks() {
  local checks
  [[ ,$IGNORED_ERRORS, != *,all,* ]] || return 0
  printf -v checks '%s,' FileAvailable--etc-kubernetes-manifests-{kube-apiserver,kube-controller-manager,kube-scheduler,etcd}.yaml \
    DirAvailable--var-lib-etcd Port-{6443,10250,10257,10259,2379,2380}
  printf ' --ignore-preflight-errors %s' "${checks%,}"
}

join_cluster() {
  [[ -n $PEERS ]] ||
    die "$NODE_NAME was created again, and there is no other control plane to join. If the cluster had several, write their number in controlPlane.count again; if it had no other one, its keys are lost: run restore with a backup, or destroy --abandon and up"
  if ! unit_running join; then start_join; fi
  wait_unit join 1510
  rm -f "$volatile/kubeadm.yaml"
  [[ -e $state/join.done ]] || die "kubeadm join failed on $NODE_NAME$(print_kubeadm_error)"
  # Asks another control plane to delete the join token. Does not wait until the node is Ready,
  # because the pod network may be deployed later.
  [[ -z $token ]] || ask_peers 60 forget "${token%%.*}" ||
    say "$NODE_NAME: its join token was not deleted; the token expires by itself"
}

# Starts kubeadm join in the background. Requests the token first: the control plane that issues the
# token removes the old etcd member of this machine. Only then may reset_machine_after delete the
# local etcd data.
start_join() {
  # Waits 120 s for each control plane. After a shorter limit, a slow control plane could still
  # upload the certificates, while a second control plane uploads them with another key.
  poll 300 ask_for_token 120 ||
    die "no other control plane issues join credentials for $NODE_NAME; start enough control planes for a majority of etcd and run up again"
  check_authority
  # Deletes admin.conf, because kubeadm reset would use it for requests to the local API server,
  # whose etcd member no longer exists.
  rm -f "$state/join.done" "$state"/kept-{version,upgraded} "$admin"
  reset_machine_after join
  write_api_hosts "$peer_address"
  freeze
  if can_all_decrypt; then write_encryption encrypts; else write_encryption plain; fi
  fetch_former_files
  record_configuration_unfinished
  fill_placeholders "$KUBEADM_JOIN" | write "$volatile/kubeadm.yaml" 0600
  say "$NODE_NAME: kubeadm join as a control plane"
  start_unit join 1500 /bin/sh -c "kubeadm join --config $volatile/kubeadm.yaml && touch $state/join.done"
}

check_authority() {
  [[ -z $CA_CERT_HASH || $authority == "$CA_CERT_HASH" ]] ||
    die "the control plane at $peer_address belongs to another cluster than the one that this stack made"
}

# Allows or prevents users' pods and load balancers on this control plane. kubeadm prevents both
# with a taint and a label. Restores the taint and the label only if this function removed them, so
# that manual changes remain.
apply_schedulable() {
  local taint=node-role.kubernetes.io/control-plane label=node.kubernetes.io/exclude-from-external-load-balancers now
  local taken=$state/schedulable
  if [[ $SCHEDULABLE == yes && ! -e $taken ]]; then
    now=$(kubectl_admin get node "$NODE_NAME" -o "jsonpath={.spec.taints[?(@.key==\"$taint\")].effect}") || return 1
    [[ -z $now ]] || kubectl_admin taint node "$NODE_NAME" "$taint-" || return 1
    kubectl_admin label node "$NODE_NAME" "$label-" && touch "$taken"
  elif [[ $SCHEDULABLE == no && -e $taken ]]; then
    kubectl_admin taint node "$NODE_NAME" --overwrite "$taint=:NoSchedule" || return 1
    kubectl_admin label node "$NODE_NAME" --overwrite "$label=" && rm -f "$taken"
  fi
}

# Deletes kubeadm's ClusterRoleBinding that approves the kubelet certificate of any node for any
# bootstrap token. Instead, stackadm-mint approves only the certificate of the joining node.
delete_approval_binding() { kubectl_admin delete clusterrolebinding kubeadm:node-autoapprove-bootstrap --ignore-not-found; }

kubectl_admin() { timeout "$((20 * factor))" kubectl --kubeconfig "$admin" "$@"; }

api_answers() { [[ $(kubectl_admin get --raw /readyz) == ok ]]; }

# Deletes all bootstrap tokens. After kubeadm init, the only token is the token that kubeadm init
# has created, and no machine uses it.
delete_bootstrap_tokens() {
  kubectl_admin -n kube-system delete secret --field-selector type=bootstrap.kubernetes.io/token --wait=false
}

cluster_configuration() {
  kubectl_admin -n kube-system get configmap kubeadm-config -o jsonpath='{.data.ClusterConfiguration}'
}

run_step control-plane control_plane
