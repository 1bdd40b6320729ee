# shellcheck shell=bash
# Keeps the labels and taints of machine groups on their nodes. A ConfigMap stores the labels and
# taints, so that all control planes set the same values. set-labels-and-taints.sh runs on each
# control plane: now, for every joining machine (issue-join-credentials.sh), and every minute.
# Library of control-plane.sh. Values: NODE_MARKS, MARKS_SCRIPT.

apply_labels_and_taints() {
  local program=/usr/local/sbin/stackadm-marks
  if [[ -z $NODE_MARKS ]]; then
    [[ -e $program ]] || return 0
  else
    write "$program" 0755 "$MARKS_SCRIPT"
  fi
  poll 60 store_labels_and_taints || die "the API server of $NODE_NAME did not store the labels and taints of the nodes"
  poll 60 "$program" || die "the labels and taints of the nodes cannot be set: $NODE_MARKS"
  if [[ -n $NODE_MARKS ]]; then install_labels_timer; else remove_labels_timer; fi
}

store_labels_and_taints() {
  if [[ -n $NODE_MARKS ]]; then
    printf '%s' "$NODE_MARKS" >"$volatile/marks" &&
      kubectl_admin -n kube-system create configmap stackadm-marks --from-file=rows="$volatile/marks" --dry-run=client -o yaml >"$volatile/marks.yaml" &&
      kubectl_admin apply -f "$volatile/marks.yaml"
  else
    kubectl_admin -n kube-system delete configmap stackadm-marks --ignore-not-found
  fi
}

install_labels_timer() {
  write /etc/systemd/system/stackadm-marks.service <<UNIT
[Service]
Type=oneshot
ExecStart=/usr/local/sbin/stackadm-marks
TimeoutStartSec=$((300 * factor))
UNIT
  write /etc/systemd/system/stackadm-marks.timer <<'UNIT'
[Timer]
OnActiveSec=60
OnUnitInactiveSec=60
[Install]
WantedBy=timers.target
UNIT
  systemctl daemon-reload
  systemctl enable --now stackadm-marks.timer
}

remove_labels_timer() {
  systemctl disable --now stackadm-marks.timer || :
  rm -f /usr/local/sbin/stackadm-marks /etc/systemd/system/stackadm-marks.service /etc/systemd/system/stackadm-marks.timer
  systemctl daemon-reload
}
