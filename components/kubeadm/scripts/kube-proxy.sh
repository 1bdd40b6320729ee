# shellcheck shell=bash disable=SC2154
# kube-proxy's configuration, which the cluster keeps for all nodes. Its pods restart one after another; when one does not come
# up, all get the former configuration back. Read by control-plane.sh; the machine that the cluster began on does it.
# Values: KUBE_PROXY_CONFIGURATION, a KubeProxyConfiguration; nothing: kubeadm's own.

readonly plain_proxy=$'apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\n'
readonly former_proxy=$state/former-kube-proxy.yaml present_proxy=$volatile/proxy-present.yaml
# Without another pod that came up.
readonly proxies_within=300

converge_proxy() {
  if is_kept proxy "$KUBE_PROXY_CONFIGURATION"; then return 0; fi
  # Elsewhere it was done before this machine's turn, and is only remembered for whoever takes the first one's place.
  if [[ -n $KUBEADM_INIT ]]; then
    begin proxy
    # kubeadm init has just given it to the cluster.
    if [[ $began == now ]]; then know_proxy_fields; else tell_proxies; fi
  fi
  keep proxy "$KUBE_PROXY_CONFIGURATION"
}

tell_proxies() {
  local document=$volatile/kube-proxy.yaml before=$volatile/proxy-before.yaml stopped=no proxies
  configuration_document >"$document" || die "kubeadm's configuration cannot be read from the cluster"
  # While control planes are upgraded it stays what it is: it must not be newer than an API server.
  poll 60 proxy_version || die "the API server of $NODE_NAME does not say of which version kube-proxy is"
  [[ -z $proxies ]] || sed -i "s/^kubernetesVersion: .*/kubernetesVersion: $proxies/" "$document"
  printf -- '---\n%s' "${KUBE_PROXY_CONFIGURATION:-$plain_proxy}" >>"$document"
  # A run that was stopped may have changed it and restarted none.
  [[ ! -e $former_proxy ]] || stopped=yes
  save_map kube-proxy "$former_proxy"
  proxy_fields >"$before" || die "the configuration of kube-proxy cannot be read from the cluster"
  kubeadm init phase addon kube-proxy --config "$document" ||
    die "kubeadm does not take kubernetes.kubeProxy$(because kubeadm)"
  know_proxy_fields put_back "$former_proxy"
  if [[ $stopped == yes ]] || ! same_file "$before" "$present_proxy"; then restart_proxies; fi
  rm -f "$former_proxy"
}

# know_proxy_fields [COMMAND...]: the command runs before this dies.
know_proxy_fields() {
  local unknown
  proxy_fields >"$present_proxy" || die "the configuration of kube-proxy cannot be read from the cluster"
  unknown=$(lacking "$present_proxy" <<<"$KUBE_PROXY_CONFIGURATION")
  [[ -z $unknown ]] || {
    "$@"
    die_as INVALID_CONFIG "kubernetes.kubeProxy: KubeProxyConfiguration of this version has no field ${unknown% }; correct its name or leave it out"
  }
}

# Sets `proxies`, the version of kube-proxy that the nodes have: nothing where there is none, or where the image has another tag.
proxy_version() {
  proxies=$(kubectl_admin -n kube-system get daemonset kube-proxy --ignore-not-found -o 'jsonpath={.spec.template.spec.containers[0].image}') || return 1
  proxies=${proxies##*:}
  [[ $proxies =~ ^v[0-9]+\.[0-9]+\.[0-9]+$ ]] || proxies=''
}

proxy_fields() { kubectl_admin -n kube-system get configmap kube-proxy -o 'jsonpath={.data.config\.conf}'; }

restart_proxies() {
  local said
  say "$NODE_NAME: kube-proxy restarts with its new configuration, on one node after another"
  roll_proxies "$proxies_within" && return 0
  said=$(proxy_words)
  put_back "$former_proxy"
  roll_proxies "$proxies_within" || say "kube-proxy does not come up everywhere with its former configuration either"
  die_as CONFIGURATION_UNDONE "kubernetes.kubeProxy: kube-proxy does not come up with it and has its former configuration again${said:+; it said: $said}"
}

# roll_proxies SECONDS
roll_proxies() {
  poll 60 kubectl_admin -n kube-system rollout restart daemonset kube-proxy && await_proxies "$1"
}

# await_proxies SECONDS without another pod that came up.
await_proxies() {
  local up=-1 now end=$((SECONDS + $1 * factor))
  while ((SECONDS < end)); do
    kubectl_admin -n kube-system rollout status daemonset kube-proxy --timeout=15s && return 0
    now=$(kubectl_admin -n kube-system get daemonset kube-proxy -o 'jsonpath={.status.updatedNumberScheduled}') || now=$up
    if [[ $now != "$up" ]]; then
      up=$now
      end=$((SECONDS + $1 * factor))
    fi
    # An API server that does not answer is not waited for by kubectl.
    sleep 1
  done
  return 1
}

# Of the first pod that is not well.
proxy_words() {
  local pod
  pod=$(kubectl_admin -n kube-system get pods -l k8s-app=kube-proxy \
    -o 'jsonpath={range .items[*]}{.status.containerStatuses[0].ready} {.metadata.name}{"\n"}{end}' |
    awk '$1 == "false" { print $2; exit }') || :
  [[ -z $pod ]] || kubectl_admin -n kube-system logs "$pod" --tail=50 | complaint
}
