# shellcheck shell=bash
# Installs the program that approves the serving certificates of kubelets
# (approve-kubelet-certificates.sh), if the cluster's CA signs these certificates. Runs on each
# control plane. Library of control-plane.sh. Values: KUBELET_CONFIGURATION, SERVING_SCRIPT.

install_certificate_approver() {
  local program=/usr/local/sbin/stackadm-serving unit=/etc/systemd/system/stackadm-serving.service
  if requests_serving_certificate; then
    write "$program" 0755 "$SERVING_SCRIPT"
    write "$unit" <<UNIT
[Service]
ExecStart=$program
Restart=always
RestartSec=1
[Install]
WantedBy=multi-user.target
UNIT
    systemctl daemon-reload
    systemctl enable stackadm-serving.service
    systemctl restart stackadm-serving.service
    await_certificate
  elif [[ -e $program ]]; then
    systemctl disable --now stackadm-serving.service || :
    rm -f "$program" "$unit"
    systemctl daemon-reload
  fi
}
