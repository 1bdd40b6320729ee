# shellcheck shell=bash disable=SC2154
# Bootstrap tokens, with which machines join. Runs on a control plane. Put before the scripts that
# use it. A machine can use a token only after the controller bootstrapsigner of
# kube-controller-manager has signed the ConfigMap cluster-info with the token.

# create_token MINUTES DESCRIPTION: prints a new token that is valid for MINUTES times `factor`.
create_token() {
  timeout "$((30 * factor))" kubeadm token create --ttl "$(($1 * factor))m" --description "$2"
}

# is_token_signed TOKEN-ID: succeeds if a machine can use the token.
is_token_signed() {
  [[ -n $(timeout "$((10 * factor))" kubectl -n kube-public get configmap cluster-info -o "jsonpath={.data.jws-kubeconfig-$1}") ]]
}
