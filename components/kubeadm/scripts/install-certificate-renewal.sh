# shellcheck shell=bash
# Installs the timer that renews kubeadm's certificates. Library of control-plane.sh.
# Values: RENEW_SCRIPT, the program that renews (renew-certificates.sh); RENEWAL_MINUTE, the minute
# of each hour, different on each control plane.

# Installs the timer and renews certificates that expire soon. Does not die if the renewal fails:
# the timer repeats the renewal for months, and `up` and `status` report a late renewal.
install_certificate_renewal() {
  local program=/usr/local/sbin/stackadm-certificates units=/etc/systemd/system
  write "$program" 0755 "$RENEW_SCRIPT"
  # The lock prevents a renewal while a script of `up` runs on this machine.
  write "$units/stackadm-certificates.service" <<UNIT
[Service]
Type=oneshot
RuntimeDirectory=stackadm
RuntimeDirectoryMode=0700
RuntimeDirectoryPreserve=yes
ExecStart=/usr/bin/flock --wait $((600 * factor)) $volatile/lock $program renew
TimeoutStartSec=$((4200 * factor))
UNIT
  # The timer runs every hour, because some machines are off at night.
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
  # A new cluster has new certificates. The unit only records when the certificates expire, and
  # waits until this script ends.
  if [[ $init_started == now ]]; then
    systemctl start --no-block stackadm-certificates.service
    return 0
  fi
  "$program" renew || say "$NODE_NAME: its certificates were not renewed this time; a timer tries again, and journalctl -u stackadm-certificates there shows the result"
}
