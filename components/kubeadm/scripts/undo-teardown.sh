# shellcheck shell=bash disable=SC2016
# Undoes the changes of cloud-object-release.sh if a destroy was interrupted and the cluster
# continues to exist: deletes the admission policy against new objects, and restores the failure
# policies of webhooks. The old policies are in annotations of the webhook configurations, so that
# any control plane can restore them. Library of control-plane.sh and cloud-object-release.sh.

readonly webhook_kinds='validatingwebhookconfigurations mutatingwebhookconfigurations'
# Prefix of an annotation's name, before the index of a webhook. The annotation's value is the
# webhook's name and its timeout in seconds.
readonly webhook_annotation_prefix=stackadm.io/webhook-

undo_teardown() {
  run_admin_kubectl delete validatingadmissionpolicy,validatingadmissionpolicybinding stackadm-teardown --ignore-not-found || :
  restore_webhooks
}

# Restores failure policy and timeout of each webhook that ignore_webhooks has changed, and deletes
# the annotations.
restore_webhooks() {
  local kind name key webhook timeout
  run_admin_kubectl get "${webhook_kinds// /,}" -o go-template='{{range .items}}{{$kind := .kind}}{{$name := .metadata.name}}{{range $key, $value := .metadata.annotations}}{{if eq (printf "%.20s" $key) "'$webhook_annotation_prefix'"}}{{$kind}} {{$name}} {{$key}} {{$value}}{{"\n"}}{{end}}{{end}}{{end}}' |
    while read -r kind name key webhook timeout; do
      patch_webhook "$kind" "$name" "${key#"$webhook_annotation_prefix"}" "$webhook" Fail "$timeout" &&
        run_admin_kubectl annotate "$kind" "$name" "$key-" </dev/null || :
    done || :
}

# patch_webhook KIND NAME INDEX WEBHOOK POLICY SECONDS: sets failure policy and timeout of the
# webhook at INDEX. Fails if this webhook's name is not WEBHOOK.
patch_webhook() {
  local at=/webhooks/$3
  run_admin_kubectl patch "$1" "$2" --type json -p "[
    {\"op\": \"test\", \"path\": \"$at/name\", \"value\": \"$4\"},
    {\"op\": \"replace\", \"path\": \"$at/failurePolicy\", \"value\": \"$5\"},
    {\"op\": \"replace\", \"path\": \"$at/timeoutSeconds\", \"value\": $6}]" </dev/null
}

run_admin_kubectl() { timeout "$((20 * factor))" kubectl --kubeconfig /etc/kubernetes/admin.conf "$@"; }
