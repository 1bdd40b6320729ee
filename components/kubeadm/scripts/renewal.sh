# shellcheck shell=bash disable=SC2154
# Each control plane signs kubeadm's certificates anew in time, without anybody. Read by control-plane.sh.
# Values: RENEW_SCRIPT, what does it (renew.sh); RENEWAL_MINUTE, of each hour, another one on each control plane.

# What cannot be done now, the next hour does; until it is late there are months, and then `up` and `status` say so.
keep_certificates() {
  local program=/usr/local/sbin/stackadm-certificates units=/etc/systemd/system
  write "$program" 0755 "$RENEW_SCRIPT"
  # While no step of an `up` is at work on this machine.
  write "$units/stackadm-certificates.service" <<UNIT
[Service]
Type=oneshot
RuntimeDirectory=stackadm
RuntimeDirectoryMode=0700
RuntimeDirectoryPreserve=yes
ExecStart=/usr/bin/flock --wait $((600 * factor)) $volatile/lock $program renew
TimeoutStartSec=$((4200 * factor))
UNIT
  # Every hour: there are machines that are off at night.
  write "$units/stackadm-certificates.timer" <<UNIT
[Timer]
OnCalendar=*-*-* *:$RENEWAL_MINUTE:00
[Install]
WantedBy=timers.target
UNIT
  write "$units/stackadm-certificates-back.service" <<UNIT
[Unit]
ConditionPathExists=/etc/kubernetes/stackadm-former-certificates
Before=kubelet.service
[Service]
Type=oneshot
ExecStart=$program back
[Install]
WantedBy=multi-user.target
UNIT
  systemctl daemon-reload
  systemctl enable stackadm-certificates-back.service
  systemctl enable --now stackadm-certificates.timer
  # As soon as this step is over: those of a cluster that has just begun are as new.
  if [[ $began == now ]]; then
    systemctl start --no-block stackadm-certificates.service
    return 0
  fi
  "$program" renew || say "$NODE_NAME: its certificates were not looked after this time; it tries again by itself, and journalctl -u stackadm-certificates there says what came of it"
}
