# shellcheck shell=bash disable=SC2154,SC2016,SC2034
# What giving back is made of, before the cluster goes. Read by snapshots.sh and teardown.sh; neither runs on a cluster that stays.
# Objects are lines here, KIND STATE NAMESPACE NAME ... FINALIZERS; STATE is `going` once deletion was asked for, else `there`.

export KUBECONFIG=/etc/kubernetes/admin.conf
# Set by whoever comes to the end: what was done on the way then stays.
released=''

ask() { timeout "$((60 * factor))" kubectl "$@"; }

# How a template says of an object what every line has.
readonly where='{{if .metadata.deletionTimestamp}}going{{else}}there{{end}} {{or .metadata.namespace "-"}} {{.metadata.name}}'
readonly finalizers='{{range .metadata.finalizers}}{{.}},{{else}}-{{end}}{{"\n"}}'

# look RESOURCES TEMPLATE: objects of all namespaces as lines.
look() { ask get "$1" --all-namespaces -o go-template="{{range \$one := .items}}$2{{end}}"; }

# begin_release WHAT: WHAT cannot be given back without the API. One whose etcd began anew is ready and knows of nothing.
begin_release() {
  poll 60 ask -n kube-system get configmap kubeadm-config ||
    die_as KUBERNETES_UNREACHABLE "the API server does not answer, or etcd has lost the cluster's data, so $1 can be released"
  trap 'failed; [[ -n $released ]] || take_back' EXIT
  # Where a function's output is taken, the log is here.
  exec 5>>"$log"
  poll 30 refuse_new || say "the API server takes no policy; what is created again is released as well"
}

end_release() {
  released=yes
  printf '{"released": "yes"}\n' >&4
}

# What a StatefulSet or an operator makes anew would never end: the API server itself refuses it, whoever asks. The policy ends by
# itself when nobody renews it, so that a run that was cut off locks nothing.
refuse_new() {
  renewed=$SECONDS
  ask apply -f - <<POLICY
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

# dwindle WHAT SECONDS COMMAND...: repeats a command until it sets `left` to 0. How many WHAT there are has no bound, but how long
# it may take, times `factor`, until there are fewer than ever; `still` is how long there were not. A command that could not look leaves `left` alone.
dwindle() {
  local what=$1 limit=$(($2 * factor)) least='' since=$SECONDS said=$SECONDS
  shift 2
  left='' still=0 refused=''
  until "$@" && [[ $left == 0 ]]; do
    if [[ -n $left ]] && ((left < ${least:-left + 1})); then least=$left since=$SECONDS; fi
    still=$((SECONDS - since))
    ((still < limit)) || return 1
    ((SECONDS < said + 20)) || { say "$left $what left" && said=$SECONDS; }
    ((SECONDS < renewed + 300)) || refuse_new || :
    ((still < 30)) || ignore_webhooks
    sleep 0.3
    refused=''
  done
}

# delete_some API-VERSION KIND [FLAG...]: deletes of what standard input names the first hundred that nobody deleted before; with flags,
# of what does not end by itself. The others come in the next rounds, and so does what is refused.
delete_some() {
  local version=$1 kind=$2 which=there documents answer
  shift 2
  [[ $# -eq 0 ]] || which=going
  documents=$(awk -v which="$which" -v what="apiVersion: $version, kind: $kind" '
    $2 == which && ++n <= 100 { printf "---\n{%s, metadata: {name: \"%s\"%s}}\n", what, $4, ($3 == "-" ? "" : ", namespace: \"" $3 "\"") }')
  [[ -n $documents ]] || return 0
  answer=$(ask delete -f - --wait=false --ignore-not-found "$@" <<<"$documents" 2>&1 >&5) || refused=${answer##*$'\n'}
}

# blocked WHAT: of `seen` nothing went for too long. Says what it is, first what has a finalizer that is not Kubernetes' own.
blocked() {
  [[ -n $left ]] || die_as KUBERNETES_UNREACHABLE "the API server does not answer any more, so the $1 cannot be released"
  die_as TEARDOWN_BLOCKED "$left $1 are left, and none went for $still s: $(blockers <<<"$seen")${refused:+; the API server says: ${refused:0:300}}"
}

blockers() {
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

# A webhook that has to be asked and does not answer keeps everything from going, what controllers do as well. From then on those
# need not answer; one that answers is heard as before.
ignore_webhooks() {
  local kind name index webhook timeout
  for kind in $webhook_kinds; do
    ask get "$kind" -o go-template='{{range .items}}{{$name := .metadata.name}}{{range $i, $one := .webhooks}}{{if eq $one.failurePolicy "Fail"}}{{$name}} {{$i}} {{$one.name}} {{$one.timeoutSeconds}}{{"\n"}}{{end}}{{end}}{{end}}' |
      while read -r name index webhook timeout; do
        say "the webhook $webhook need not answer any more"
        ask annotate "$kind" "$name" --overwrite "$set_aside$index=$webhook $timeout" </dev/null &&
          patch_webhook "$kind" "$name" "$index" "$webhook" Ignore 1 || :
      done || :
  done
}
