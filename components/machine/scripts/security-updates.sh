# shellcheck shell=bash disable=SC2154
# Whether the distribution's security updates install themselves. Read by the scripts that come after this one.
# Value: SECURITY_UPDATES, `yes` or `no`.

# Off since the first boot (user-data.ts): until here they would hold the package lock. What is pinned is held by now.
security_updates() {
  local enable=0
  if [[ $SECURITY_UPDATES == yes ]]; then
    enable=1
    command -v unattended-upgrade ||
      say "$(hostname): the image has no unattended-upgrades, so nothing installs security updates by itself"
  fi
  write /etc/apt/apt.conf.d/99stackadm <<SETTINGS
APT::Periodic::Enable "$enable";
APT::Periodic::Update-Package-Lists "1";
APT::Periodic::Unattended-Upgrade "1";
Unattended-Upgrade::Automatic-Reboot "false";
SETTINGS
}
