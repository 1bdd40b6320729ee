# shellcheck shell=bash disable=SC2016,SC2034
# Functions that make a cluster's controllers delete their cloud objects (load balancers, volumes,
# snapshots) before the cluster is deleted. Library of release-snapshots.sh and
# release-cluster-objects.sh.
# The functions read and print Kubernetes objects as lines KIND STATE NAMESPACE NAME ... FINALIZERS.
# STATE is `going` if the object has a deletionTimestamp, else `there`.

export KUBECONFIG=/etc/kubernetes/admin.conf
# Not empty when all objects are deleted. The exit trap then keeps the admission policy, because the
# cluster is about to be deleted.
released=''

run_kubectl() { timeout "$((60 * factor))" kubectl "$@"; }

# Parts of a go-template that print STATE NAMESPACE NAME and FINALIZERS.
readonly where='{{if .metadata.deletionTimestamp}}going{{else}}there{{end}} {{or .metadata.namespace "-"}} {{.metadata.name}}'
readonly finalizers='{{range .metadata.finalizers}}{{.}},{{else}}-{{end}}{{"\n"}}'

# list_objects RESOURCES TEMPLATE: prints the objects of all namespaces as lines.
list_objects() { run_kubectl get "$1" --all-namespaces -o go-template="{{range \$one := .items}}$2{{end}}"; }

# begin_release WHAT: checks that the API server has the cluster's data, then makes the API server
# refuse new objects. The check reads kubeadm-config, because an API server with an empty etcd is
# ready, too. WHAT is a text for the error message.
begin_release() {
  poll 60 run_kubectl -n kube-system get configmap kubeadm-config ||
    die_as KUBERNETES_UNREACHABLE "the API server does not answer, or etcd has lost the cluster's data, so $1 can be released"
  trap 'report_failure; [[ -n $released ]] || undo_teardown' EXIT
  # Opens the log as descriptor 5, for functions whose standard output is captured.
  exec 5>>"$log"
  poll 30 block_new_objects || say "the API server stores no policy against new objects; objects that are created again are released as well"
}

end_release() {
  released=yes
  print_result released yes
}

# Makes the API server refuse new claims, load balancers and snapshots, which a StatefulSet or an
# operator would otherwise create repeatedly. The policy expires after 30 minutes if it is not
# renewed, so that an interrupted run does not block the cluster permanently.
block_new_objects() {
  renewed=$SECONDS
  run_kubectl apply -f - <<POLICY
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: { name: stackadm-teardown }
spec:
  failurePolicy: Ignore
  matchConstraints:
    resourceRules:
      - { apiGroups: [""], apiVersions: ["*"], operations: [CREATE], resources: [persistentvolumeclaims, services] }
      - { apiGroups: [snapshot.storage.k8s.io], apiVersions: ["*"], operations: [CREATE], resources: [volumesnapshots] }
  matchConditions:
    - name: has-something-in-the-cloud
      expression: request.resource.resource != "services" || object.spec.type == "LoadBalancer"
  validations:
    - expression: timestamp(object.metadata.creationTimestamp) > timestamp("$(date -u -d '30 minutes' +%FT%TZ)")
      message: this cluster is being destroyed; where that was given up, delete the validatingadmissionpolicy stackadm-teardown
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: { name: stackadm-teardown }
spec: { policyName: stackadm-teardown, validationActions: [Deny] }
POLICY
}

# wait_until_none_left WHAT SECONDS COMMAND...: repeats COMMAND until `remaining` is 0. COMMAND sets
# `remaining` to the number of remaining objects, or does not set it if it cannot read the objects.
# Fails if `remaining` does not decrease for SECONDS times `factor`. Sets `stalled_seconds` to the
# seconds since the last decrease. WHAT is a text for messages.
wait_until_none_left() {
  local what=$1 limit=$(($2 * factor)) least='' since=$SECONDS said=$SECONDS
  shift 2
  remaining='' stalled_seconds=0 refused=''
  until "$@" && [[ $remaining == 0 ]]; do
    if [[ -n $remaining ]] && ((remaining < ${least:-remaining + 1})); then least=$remaining since=$SECONDS; fi
    stalled_seconds=$((SECONDS - since))
    ((stalled_seconds < limit)) || return 1
    ((SECONDS < said + 20)) || { say "$remaining $what left" && said=$SECONDS; }
    ((SECONDS < renewed + 300)) || block_new_objects || :
    ((stalled_seconds < 30)) || ignore_webhooks
    sleep 0.3
    refused=''
  done
}

# delete_batch API-VERSION KIND [FLAG...]: deletes the first hundred objects on standard input.
# Without flags, deletes objects with the state `there`. With flags of kubectl delete, deletes
# objects with the state `going` again. Further calls delete the remaining objects, and repeat
# deletions that the API server refused.
delete_batch() {
  local version=$1 kind=$2 which=there documents answer
  shift 2
  [[ $# -eq 0 ]] || which=going
  documents=$(awk -v which="$which" -v what="apiVersion: $version, kind: $kind" '
    $2 == which && ++n <= 100 { printf "---\n{%s, metadata: {name: \"%s\"%s}}\n", what, $4, ($3 == "-" ? "" : ", namespace: \"" $3 "\"") }')
  [[ -n $documents ]] || return 0
  answer=$(run_kubectl delete -f - --wait=false --ignore-not-found "$@" <<<"$documents" 2>&1 >&5) || refused=${answer##*$'\n'}
}

# die_blocked WHAT: dies with the names of objects in `seen`. Objects with a finalizer of software
# that is not part of Kubernetes come first, because this software probably blocks the deletion.
die_blocked() {
  [[ -n $remaining ]] || die_as KUBERNETES_UNREACHABLE "the API server does not answer any more, so the $1 cannot be released"
  die_as TEARDOWN_BLOCKED "$remaining $1 are left, and none went for $stalled_seconds s: $(print_blockers <<<"$seen")${refused:+; the API server says: ${refused:0:300}}"
}

print_blockers() {
  awk '
    $0 == "" || seen[$1 $3 $4]++ { next }
    {
      line = $1 " " ($3 == "-" ? "" : $3 "/") $4 ($2 == "going" ? " is being deleted" : " is there")
      if ($NF != "-") line = line ", finalizers " substr($NF, 1, length($NF) - 1)
      own = 1
      for (i = split($NF, names, ","); i > 0; i--) if (names[i] !~ /^-?$|kubernetes\.io\/|^external-attacher\//) own = 0
      if (own) others[++many] = line; else first[++few] = line
    }
    END {
      for (i = 1; i <= few + many && i <= 5; i++) printf "%s%s", (i > 1 ? "; " : ""), (i <= few ? first[i] : others[i - few])
      if (few + many > 5) printf "; and %d more", few + many - 5
    }'
}

# Sets the failure policy of all webhooks to Ignore and their timeout to 1 s. Otherwise a required
# webhook that does not answer would block every deletion, also deletions by controllers. Webhooks
# that answer continue to work.
ignore_webhooks() {
  local kind name index webhook timeout
  for kind in $webhook_kinds; do
    run_kubectl get "$kind" -o go-template='{{range .items}}{{$name := .metadata.name}}{{range $i, $one := .webhooks}}{{if eq $one.failurePolicy "Fail"}}{{$name}} {{$i}} {{$one.name}} {{$one.timeoutSeconds}}{{"\n"}}{{end}}{{end}}{{end}}' |
      while read -r name index webhook timeout; do
        say "the webhook $webhook no longer has to answer"
        run_kubectl annotate "$kind" "$name" --overwrite "$webhook_annotation_prefix$index=$webhook $timeout" </dev/null &&
          patch_webhook "$kind" "$name" "$index" "$webhook" Ignore 1 || :
      done || :
  done
}
