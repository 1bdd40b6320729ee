# shellcheck shell=bash disable=SC2154
# If kubelets serve with certificates of the cluster's CA, runs the program that approves them
# (serving.sh) on each control plane.
# Put before control-plane.sh. Values: KUBELET_CONFIGURATION, SERVING_SCRIPT.

sign_kubelets() {
  local program=/usr/local/sbin/stackadm-serving unit=/etc/systemd/system/stackadm-serving.service
  if asks_for_certificate; then
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
