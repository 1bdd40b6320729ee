# shellcheck shell=bash disable=SC2016
# Undoes the changes of cloud-object-release.sh if the cluster is not deleted. Annotations on the
# webhook configurations contain the former settings, so that any control plane can restore the
# settings. Library of control-plane.sh and cloud-object-release.sh.

readonly webhook_kinds='validatingwebhookconfigurations mutatingwebhookconfigurations'
# Prefix of an annotation's name, before the index of a webhook. The annotation's value is the
# webhook's name and its timeout in seconds.
readonly set_aside=stackadm.io/webhook-

take_back() {
  ask_admission delete validatingadmissionpolicy,validatingadmissionpolicybinding stackadm-teardown --ignore-not-found || :
  heed_webhooks
}

heed_webhooks() {
  local kind name key webhook timeout
  ask_admission get "${webhook_kinds// /,}" -o go-template='{{range .items}}{{$kind := .kind}}{{$name := .metadata.name}}{{range $key, $value := .metadata.annotations}}{{if eq (printf "%.20s" $key) "'$set_aside'"}}{{$kind}} {{$name}} {{$key}} {{$value}}{{"\n"}}{{end}}{{end}}{{end}}' |
    while read -r kind name key webhook timeout; do
      patch_webhook "$kind" "$name" "${key#"$set_aside"}" "$webhook" Fail "$timeout" &&
        ask_admission annotate "$kind" "$name" "$key-" </dev/null || :
    done || :
}

# patch_webhook KIND NAME INDEX WEBHOOK POLICY SECONDS: sets failure policy and timeout of the
# webhook at INDEX. Fails if this webhook's name is not WEBHOOK.
patch_webhook() {
  local at=/webhooks/$3
  ask_admission patch "$1" "$2" --type json -p "[
    {\"op\": \"test\", \"path\": \"$at/name\", \"value\": \"$4\"},
    {\"op\": \"replace\", \"path\": \"$at/failurePolicy\", \"value\": \"$5\"},
    {\"op\": \"replace\", \"path\": \"$at/timeoutSeconds\", \"value\": $6}]" </dev/null
}

ask_admission() { timeout "$((20 * factor))" kubectl --kubeconfig /etc/kubernetes/admin.conf "$@"; }
