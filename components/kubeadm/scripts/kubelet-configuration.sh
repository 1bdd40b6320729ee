# shellcheck shell=bash
# Updates the KubeletConfiguration that the cluster stores for all kubelets. Tries the configuration
# on this control plane first. Library of control-plane.sh.
# Values: KUBELET_CONFIGURATION, a KubeletConfiguration; empty: the program's defaults.

readonly default_kubelet_configuration='apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
cgroupDriver: systemd
nodeStatusUpdateFrequency: 2s
nodeStatusReportFrequency: 5m0s
'
readonly former_kubelets=$state/former-kubelet-config.yaml

converge_kubelets() {
  if is_recorded kubelet "$KUBELET_CONFIGURATION"; then return 0; fi
  record_unfinished kubelet
  # kubeadm init in this run has already applied the configuration to the cluster and this machine.
  if [[ $init_started == now ]]; then
    check_kubelet_fields
  else
    save_config_map kubelet-config "$former_kubelets"
    store_kubelet_configuration
    check_kubelet_fields restore_config_map "$former_kubelets"
    apply_kubelet_configuration restore_config_map "$former_kubelets"
    rm -f "$former_kubelets"
  fi
  record_applied kubelet "$KUBELET_CONFIGURATION"
}

store_kubelet_configuration() {
  local document=$volatile/kubelet.yaml
  {
    configuration_document || die "kubeadm's configuration cannot be read from the cluster"
    printf -- '---\n%s' "${KUBELET_CONFIGURATION:-$default_kubelet_configuration}"
  } >"$document"
  kubeadm init phase upload-config kubelet --config "$document" ||
    die "kubeadm refuses kubernetes.kubelet$(print_tool_error kubeadm)"
}

# check_kubelet_fields [COMMAND...]: checks that kubelet knows all fields of the configuration. If
# kubelet does not know a field, runs the command and dies.
check_kubelet_fields() {
  local present=$volatile/kubelet-present.yaml unknown
  kubectl_admin -n kube-system get configmap kubelet-config -o jsonpath='{.data.kubelet}' >"$present" ||
    die "the configuration of kubelet cannot be read from the cluster"
  unknown=$(print_missing_fields "$present" <<<"$KUBELET_CONFIGURATION")
  [[ -z $unknown ]] || {
    "$@"
    die_as INVALID_CONFIG "kubernetes.kubelet: KubeletConfiguration of this version has no field ${unknown% }; correct its name or leave it out"
  }
}

# save_config_map NAME FILE: saves a ConfigMap. Keeps the file of an interrupted run, because the
# present ConfigMap may contain the configuration that the interrupted run tried.
save_config_map() {
  local map
  [[ ! -e $2 ]] || return 0
  map=$(kubectl_admin -n kube-system get configmap "$1" -o yaml) || die "the ConfigMap $1 cannot be read from the cluster"
  sed '/^  resourceVersion: /d' <<<"$map" | write "$2" 0600
}

# restore_config_map FILE: restores a saved ConfigMap.
restore_config_map() {
  if poll 60 kubectl_admin replace -f "$1"; then rm -f "$1"; else say "$1 on $NODE_NAME was not put back into the cluster"; fi
}
