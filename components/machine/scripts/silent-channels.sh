# shellcheck shell=bash
# Makes sshd close forwarded connections on which no byte was sent for 6 minutes. Library of
# prepare.sh and bastion-logins-and-updates.sh.

# SSH connects to most machines through this machine. If such a machine stops, sshd here would keep
# the forwarded connection open, because sshd sets no TCP keep-alive on it. `pulumi up` would then
# wait forever. A connection to a living machine is never silent, because its sshd sends a message
# after 15 s (ClientAliveInterval). The limit is longer than the 5 minutes of stackadm's own watch
# (automation/engine/script-watchdog.ts), which knows the reason. sshd before OpenSSH 9.2 has no such setting, and would not start
# with it.
limit_silent_channels() {
  local file=/etc/ssh/sshd_config.d/20-stackadm.conf limit=direct-tcpip=6m
  if ! sshd -T -o "ChannelTimeout=$limit" >/dev/null 2>&1; then return 0; fi
  if grep -qsxF "ChannelTimeout $limit" "$file"; then return 0; fi
  write "$file" 0600 "ChannelTimeout $limit"$'\n'
  systemctl try-reload-or-restart ssh || {
    # Lets the next run try again.
    rm -f "$file"
    die "sshd on $(hostname) did not read its settings again"
  }
}
