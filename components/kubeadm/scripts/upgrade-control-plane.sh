# shellcheck shell=bash disable=SC2154,SC2034
# What the upgrade of a control plane is. Read by control-plane.sh, after upgrade.sh.
# Values: KUBEADM_INIT, something on the machine that the cluster begins on, which is upgraded first; PATCHES; RETIRE_SCRIPT, what takes
# pods away from nodes, workers' too (retire.sh).

readonly retire_program=/usr/local/sbin/stackadm-retire
# Labelled by kubeadm.
readonly control_planes=node-role.kubernetes.io/control-plane

offer_retirement() { write "$retire_program" 0755 "$RETIRE_SCRIPT"; }

# kubeadm moves a manifest away before it puts another one there: a machine that stopped in between has none, and no API without it.
restore_upgraded() {
  local backup
  holds "$state/kept-version" 'not finished' || return 0
  for backup in /etc/kubernetes/tmp/kubeadm-backup-manifests-*/*.yaml; do
    if [[ -e $backup && ! -e $manifests/${backup##*/} ]] && ! unit_running upgrade; then
      mv -f "$backup" "$manifests/"
      restored=yes
    fi
  done
}

# The first one needs all machines, the others the control planes. For etcd's health kubeadm looks on each.
may_begin() {
  local selector=$control_planes wanting
  [[ -z $KUBEADM_INIT ]] || selector=''
  poll 120 all_ready "$selector" ||
    die_as NOT_READY "Kubernetes is not upgraded while not all machines are Ready: ${wanting:-the API server does not say which}; bring them back, or take their nodes out of the cluster, and run up again"
}

# all_ready SELECTOR: sets `wanting`, the nodes that are not Ready. This one is judged by what comes of it.
all_ready() {
  local states
  states=$(kubectl_admin get nodes -l "$1" -o 'jsonpath={range .items[*]}{.metadata.name} {.status.conditions[?(@.type=="Ready")].status}{"\n"}{end}') || return 1
  wanting=$(awk -v self="$NODE_NAME" 'NF && $1 != self && $2 != "True" { printf "%s%s", sep, $1; sep = ", " }' <<<"$states")
  [[ -z $wanting ]]
}

# The first one was lost in the middle, and came back with its packages.
lags() {
  local now
  [[ -n $KUBEADM_INIT ]] && cluster_version && [[ $now != "v$KUBERNETES_VERSION" ]]
}

kubeadm_upgrades() {
  local words=(node) upgrade_patches=''
  # shellcheck disable=SC2034 # upgrade.sh reads it
  [[ -z $PATCHES ]] || upgrade_patches=$own_patches
  if [[ -n $KUBEADM_INIT ]]; then
    words=(apply "v$KUBERNETES_VERSION" --yes)
  elif ! cluster_has_version; then
    die "the cluster is not of version $KUBERNETES_VERSION yet, which its first control plane brings; bring that one up before"
  fi
  run_kubeadm_upgrade "${words[@]}" || upgrade_failed
  # kubeadm has every node's certificate approved again.
  { steady 240 answers && poll 30 approve_none; } ||
    die_as KUBERNETES_UNREACHABLE "the API server of $NODE_NAME does not answer after its upgrade; crictl logs there says why"
}

upgrade_failed() {
  local component said=''
  component=$(this_run | sed -n 's/^.*Preparing for "\(.*\)" upgrade$/\1/p' | tail -n 1)
  # The one that kubeadm waited for has ended; the former one runs again.
  [[ -z $component ]] || said=$(ended_words "$component")
  die "kubeadm upgrade did not succeed on $NODE_NAME$(kubeadm_fault)${said:+; $component said: $said}"
}

ended_words() {
  local ended
  ended=$(timeout "$((20 * factor))" crictl ps --all --quiet --state exited --name "^$1\$") || return 0
  [[ -z $ended ]] || timeout "$((20 * factor))" crictl logs --tail 50 "${ended%%$'\n'*}" 2>&1 | complaint
}

retires() {
  local said code=0
  said=$("$retire_program" retire "$NODE_NAME") || code=$?
  retired "$code" "$said"
}

restores() {
  poll 60 "$retire_program" restore "$NODE_NAME" ||
    die "the API server of $NODE_NAME does not take that it may have pods again"
}

# kubeadm changes these where the last API server gets the version, and waits for neither. There may be none.
settles() {
  [[ -z $(in_system deployment/coredns) ]] || poll "$dns_within" dns_rolled || unsettled deployment/coredns
  [[ -z $(in_system daemonset/kube-proxy) ]] || await_proxies "$proxies_within" || unsettled daemonset/kube-proxy
}

# kubeadm changes them where it upgrades the last one, and not where that was lost before its turn and has joined with the version.
catches_up() {
  local proxies servers=''
  poll 60 proxy_version || die "the API server of $NODE_NAME does not say of which version kube-proxy is"
  [[ -n $proxies && $proxies != "v$KUBERNETES_VERSION" ]] || return 0
  poll 60 serves_version || die_as NOT_READY "the cluster does not see the API server of $NODE_NAME with version $KUBERNETES_VERSION; the next up looks again"
  ! grep -qv ":v$KUBERNETES_VERSION\$" <<<"$servers" || return 0
  say "$NODE_NAME: CoreDNS and kube-proxy get what goes with Kubernetes $KUBERNETES_VERSION"
  timeout "$((120 * factor))" kubeadm upgrade node phase addon all ${PATCHES:+--patches "$own_patches"} ||
    die "kubeadm does not give CoreDNS and kube-proxy their new version$(because kubeadm)"
  settles
}

# Sets `servers`, each node of the API with its image, when this one is among them. A former self may be, too.
serves_version() {
  servers=$(kubectl_admin -n kube-system get pods -l component=kube-apiserver -o 'jsonpath={range .items[*]}{.spec.nodeName} {.spec.containers[0].image}{"\n"}{end}') &&
    grep -q "^$NODE_NAME .*:v$KUBERNETES_VERSION\$" <<<"$servers"
}

in_system() { kubectl_admin -n kube-system get "$1" --ignore-not-found -o name; }

unsettled() {
  die_as NOT_READY "$1 of kube-system does not come up everywhere with the image that goes with Kubernetes $KUBERNETES_VERSION; kubectl -n kube-system describe $1 says why, and the next up goes on"
}
