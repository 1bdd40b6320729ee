#!/bin/bash
# Lies on control planes as /usr/local/sbin/stackadm-mint; the forced command of the user stackadm-join.
# stackadm-mint "mint NODE SERVER-ID": prints a bootstrap token that lives 10 minutes and may be used at once. A node of that
# name on another server is what a replaced machine left: it goes first, because a node never changes its server.
# stackadm-mint "revoke TOKEN-ID": deletes it.
set -euo pipefail
export KUBECONFIG=/etc/kubernetes/admin.conf

signed() {
  [[ -n $(timeout 10 kubectl -n kube-public get configmap cluster-info -o "jsonpath={.data.jws-kubeconfig-$1}") ]]
}

forget_other() {
  local provider
  provider=$(timeout 30 kubectl get node "$1" --ignore-not-found -o 'jsonpath={.spec.providerID}')
  [[ -z $provider || $provider == "openstack:///$2" ]] || timeout 60 kubectl delete node "$1" >/dev/null
}

read -r verb subject server rest <<<"${1:-}"
[[ -z $rest ]] || exit 64
case $verb in
  mint)
    [[ $subject =~ ^[a-z0-9][a-z0-9-]{0,62}$ && $server =~ ^[0-9a-f-]{36}$ ]] || exit 64
    forget_other "$subject" "$server"
    token=$(timeout 30 kubeadm token create --ttl 10m --description "join of $subject" 2>/dev/null)
    # The joining machine looks for the signature only every 5 s: hand the token out when it is there.
    for ((try = 0; try < 60; try++)); do
      if signed "${token%%.*}"; then
        printf '%s\n' "$token"
        exit 0
      fi
      sleep 0.2
    done
    exit 1
    ;;
  revoke)
    [[ $subject =~ ^[a-z0-9]{6}$ && -z $server ]] || exit 64
    timeout 30 kubeadm token delete "$subject" >/dev/null
    ;;
  *) exit 64 ;;
esac
