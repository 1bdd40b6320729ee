# shellcheck shell=bash disable=SC2154
# Turns the distribution's automatic security updates on or off, and says what they leave running. Read by the scripts that come after this one.
# Value: SECURITY_UPDATES, `yes` or `no`.

# Off since the first boot (user-data.ts): until here they would hold the package lock. What is pinned is held by now. The file sorts
# after that of user data, which cloud-init writes again where its state was cleaned.
security_updates() {
  local enable=0
  if [[ $SECURITY_UPDATES == yes ]]; then
    enable=1
    command -v unattended-upgrade ||
      say "$(hostname): the image has no unattended-upgrades, so nothing installs security updates by itself"
  fi
  write /etc/apt/apt.conf.d/99stackadm-updates <<SETTINGS
APT::Periodic::Enable "$enable";
APT::Periodic::Update-Package-Lists "1";
APT::Periodic::Unattended-Upgrade "1";
Unattended-Upgrade::Automatic-Reboot "false";
SETTINGS
}

# systemd-networkd starts again with each update of systemd. It then removes what it did not make itself: routes and rules of the pod
# network, the virtual IP, and an address that it has by DHCP, until that is given again; without one the kernel drops all routes of the
# interface. It reads these files when it starts. Where Kubernetes runs, that start is left to the next update.
keep_network() {
  local told=no file files
  [[ $(systemctl show --value -p ActiveState systemd-networkd) == active ]] || return 0
  write /etc/systemd/networkd.conf.d/10-stackadm.conf <<'NETWORKD'
[Network]
ManageForeignRoutes=no
ManageForeignRoutingPolicyRules=no
NETWORKD
  [[ $changed == no ]] || told=yes
  files=$(network_files)
  [[ -n $files ]] || say "$(hostname): systemd-networkd names no file of its interfaces; their addresses may go when it starts again"
  for file in $files; do
    write "/etc/systemd/network/$file.d/10-stackadm.conf" 0644 $'[Network]\nKeepConfiguration=yes\n'
    [[ $changed == no ]] || told=yes
  done
  if [[ $told == no ]] || lives; then return 0; fi
  systemctl restart systemd-networkd ||
    die "systemd-networkd does not start again on $(hostname); journalctl -u systemd-networkd there says why"
}

# The names of its files of the interfaces that have an address.
network_files() {
  local device
  for device in $(ip -o -4 address show scope global | awk '!known[$2]++ { print $2 }'); do
    networkctl --no-pager status "$device" | sed -n 's|^ *Network File: /.*/||p'
  done
}

# needrestart, which Ubuntu's images have, restarts after each installation what still runs with a replaced library: pods lose their
# connections, the virtual IP moves, and what works on the machine begins again. Those get the library at the next reboot.
keep_services() {
  write /etc/needrestart/conf.d/50-stackadm.conf <<'NEEDRESTART'
# Written by stackadm.
$nrconf{override_rc}{qr(^(containerd|kubelet|keepalived|systemd-networkd|stackadm-.+)\.service$)} = 0;
NEEDRESTART
}
