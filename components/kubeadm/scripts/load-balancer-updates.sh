# shellcheck shell=bash disable=SC2154,SC2034
# Waits until the cloud controller manager has updated the load balancers of Services. After each
# update of a load balancer, it creates an event on the Service. Runs on a control plane. Put before
# the scripts that use it.

# Label of a node that is no member of the load balancers of Services.
readonly excluded=node.kubernetes.io/exclude-from-external-load-balancers
# Value of this label on a node that joins (programs/issue-join-credentials.sh).
readonly joining=joining

# Prints a line "NAMESPACE/NAME" for each Service that has a load balancer of the cloud controller
# manager. Services with a class have another controller, which creates no such events.
print_balanced_services() {
  timeout "$((30 * factor))" kubectl get services --all-namespaces \
    -o go-template='{{range .items}}{{if and (eq .spec.type "LoadBalancer") .status.loadBalancer.ingress (not .spec.loadBalancerClass) (not .metadata.deletionTimestamp)}}{{.metadata.namespace}}/{{.metadata.name}}{{"\n"}}{{end}}{{end}}'
}

# Prints a line "NAMESPACE/NAME VERSION" for each Service whose load balancer was updated. VERSION
# changes with each update.
print_load_balancer_updates() {
  timeout "$((30 * factor))" kubectl get events --all-namespaces --field-selector reason=UpdatedLoadBalancer \
    -o go-template='{{range .items}}{{.involvedObject.namespace}}/{{.involvedObject.name}} {{.metadata.resourceVersion}}{{"\n"}}{{end}}'
}

# await_load_balancers BEFORE: waits until each load balancer has an update that is not in BEFORE,
# the former output of print_load_balancer_updates. Returns 1, and sets `late` to the other
# Services, 60 s times `factor` after the last update that was seen. This limit is needed because
# Kubernetes drops events of a Service that has many of them.
await_load_balancers() {
  local services now updated missing end=$((SECONDS + 60 * factor))
  services=$(print_balanced_services) || return 1
  late=$services
  while [[ -n $late ]]; do
    if now=$(print_load_balancer_updates); then
      updated=$(print_other_lines "$1" "$now" | cut -d' ' -f1)
      missing=$(print_other_lines "$updated" "$services")
      [[ $missing == "$late" ]] || end=$((SECONDS + 60 * factor))
      late=$missing
    fi
    [[ -n $late ]] || return 0
    ((SECONDS < end)) || return 1
    sleep 1
  done
}

# print_other_lines FORMER PRESENT: prints the lines of PRESENT that are not in FORMER.
print_other_lines() { grep -vxF -f <(printf '%s\n' "$1") <<<"$2" || :; }
