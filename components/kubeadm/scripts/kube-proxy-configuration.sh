# shellcheck shell=bash
# Updates the configuration of kube-proxy, which the cluster stores for all nodes. The pods restart
# one by one. If a pod does not start, restores the former configuration of all pods. Only the first
# control plane applies the configuration. Library of control-plane.sh.
# Values: KUBE_PROXY_CONFIGURATION, a KubeProxyConfiguration; empty: kubeadm's defaults.

readonly default_proxy_configuration=$'apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\n'
readonly former_proxy=$state/former-kube-proxy.yaml present_proxy=$volatile/proxy-present.yaml
# A restart of all pods fails if no further pod is updated within this number of seconds.
readonly proxy_rollout_seconds=300

converge_proxy() {
  if is_recorded proxy "$KUBE_PROXY_CONFIGURATION"; then return 0; fi
  # Only the first control plane applies the configuration. The other control planes store a copy,
  # from which a machine that replaces the first control plane fetches the configuration
  # (fetch_former_files).
  if [[ -n $KUBEADM_INIT ]]; then
    record_unfinished proxy
    # If kubeadm init ran in this run, kubeadm init has already applied the configuration. The
    # script then only checks that kube-proxy knows all fields.
    if [[ $init_started == now ]]; then check_proxy_fields; else apply_proxy_configuration; fi
  fi
  record_applied proxy "$KUBE_PROXY_CONFIGURATION"
}

apply_proxy_configuration() {
  local document=$volatile/kube-proxy.yaml before=$volatile/proxy-before.yaml stopped=no proxies
  configuration_document >"$document" || die "kubeadm's configuration cannot be read from the cluster"
  # Keeps the version of kube-proxy while control planes are upgraded: kube-proxy must not be newer
  # than an API server.
  poll 60 read_proxy_version || die "the API server of $NODE_NAME does not return the version of kube-proxy"
  [[ -z $proxies ]] || sed -i "s/^kubernetesVersion: .*/kubernetesVersion: $proxies/" "$document"
  printf -- '---\n%s' "${KUBE_PROXY_CONFIGURATION:-$default_proxy_configuration}" >>"$document"
  # An interrupted run may have changed the configuration without restarting the pods.
  [[ ! -e $former_proxy ]] || stopped=yes
  save_config_map kube-proxy "$former_proxy"
  print_proxy_configuration >"$before" || die "the configuration of kube-proxy cannot be read from the cluster"
  kubeadm init phase addon kube-proxy --config "$document" ||
    die "kubeadm refuses kubernetes.kubeProxy$(print_tool_error kubeadm)"
  check_proxy_fields restore_config_map "$former_proxy"
  if [[ $stopped == yes ]] || ! same_file "$before" "$present_proxy"; then restart_proxies; fi
  rm -f "$former_proxy"
}

# check_proxy_fields [COMMAND...]: checks that kube-proxy knows all fields of the configuration. If
# kube-proxy does not know a field, runs the command and dies.
check_proxy_fields() {
  local unknown
  print_proxy_configuration >"$present_proxy" || die "the configuration of kube-proxy cannot be read from the cluster"
  unknown=$(print_missing_fields "$present_proxy" <<<"$KUBE_PROXY_CONFIGURATION")
  [[ -z $unknown ]] || {
    "$@"
    die_as INVALID_CONFIG "kubernetes.kubeProxy: KubeProxyConfiguration of this version has no field ${unknown% }; correct its name or leave it out"
  }
}

# Sets `proxies` to the version of kube-proxy. Sets `proxies` to an empty text if the cluster has no
# kube-proxy, or if the tag of the image is no version.
read_proxy_version() {
  proxies=$(kubectl_admin -n kube-system get daemonset kube-proxy --ignore-not-found -o 'jsonpath={.spec.template.spec.containers[0].image}') || return 1
  proxies=${proxies##*:}
  [[ $proxies =~ ^v[0-9]+\.[0-9]+\.[0-9]+$ ]] || proxies=''
}

# Prints the configuration of kube-proxy. Prints iptables in place of an empty mode, which means the
# same, so that kube-proxy does not restart for it.
print_proxy_configuration() {
  kubectl_admin -n kube-system get configmap kube-proxy -o 'jsonpath={.data.config\.conf}' |
    sed 's/^mode: ""$/mode: iptables/'
}

restart_proxies() {
  local said
  say "$NODE_NAME: kube-proxy restarts with its new configuration, on one node after another"
  restart_and_await_proxies "$proxy_rollout_seconds" && return 0
  said=$(print_proxy_error)
  restore_config_map "$former_proxy"
  restart_and_await_proxies "$proxy_rollout_seconds" || say "kube-proxy does not come up everywhere with its former configuration either"
  die_as CONFIGURATION_UNDONE "kubernetes.kubeProxy: kube-proxy does not come up with it and has its former configuration again${said:+; it said: $said}"
}

# restart_and_await_proxies SECONDS: restarts all pods of kube-proxy and waits like await_proxies.
restart_and_await_proxies() {
  poll 60 kubectl_admin -n kube-system rollout restart daemonset kube-proxy && await_proxies "$1"
}

# await_proxies SECONDS: waits until all pods are updated. Fails if no further pod is updated for
# SECONDS times `factor`.
await_proxies() {
  local up=-1 now end=$((SECONDS + $1 * factor))
  while ((SECONDS < end)); do
    kubectl_admin -n kube-system rollout status daemonset kube-proxy --timeout=15s && return 0
    now=$(kubectl_admin -n kube-system get daemonset kube-proxy -o 'jsonpath={.status.updatedNumberScheduled}') || now=$up
    if [[ $now != "$up" ]]; then
      up=$now
      end=$((SECONDS + $1 * factor))
    fi
    # kubectl returns at once if the API server does not answer, so this pause limits the requests.
    sleep 1
  done
  return 1
}

# Prints the error in the log of the first pod that is not ready.
print_proxy_error() {
  local pod
  pod=$(kubectl_admin -n kube-system get pods -l k8s-app=kube-proxy \
    -o 'jsonpath={range .items[*]}{.status.containerStatuses[0].ready} {.metadata.name}{"\n"}{end}' |
    awk '$1 == "false" { print $2; exit }') || :
  [[ -z $pod ]] || kubectl_admin -n kube-system logs "$pod" --tail=50 | print_last_error
}
