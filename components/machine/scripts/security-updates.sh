# shellcheck shell=bash disable=SC2154
# Turns the distribution's automatic security updates on or off, and keeps the network and services
# running during updates. Library of the scripts that follow.
# Value: SECURITY_UPDATES, `yes` or `no`.

# security_updates: updates are off from the first boot (user-data.ts) until here, since they would
# hold the package lock. Pinned packages are held by now. The file sorts after the one of user data,
# which cloud-init writes again if its state was cleaned.
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

# keep_network: each update of systemd restarts systemd-networkd, which then removes what it did not
# create: the pod network's routes and rules, and the virtual IP. It also drops a DHCP address until
# it gets it again, and without an address the kernel drops all routes of the interface. These files
# prevent that. networkd reads them when it starts; where Kubernetes runs, the next update starts
# it.
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

# network_files: prints the names of networkd's files for interfaces that have an address.
network_files() {
  local device
  for device in $(ip -o -4 address show scope global | awk '!known[$2]++ { print $2 }'); do
    networkctl --no-pager status "$device" | sed -n 's|^ *Network File: /.*/||p'
  done
}

# keep_services: needrestart, which Ubuntu's images have, restarts services whose library was
# updated. Pods would lose connections, the virtual IP would move, and a running step would start
# again. These services get the library at the next reboot.
keep_services() {
  write /etc/needrestart/conf.d/50-stackadm.conf <<'NEEDRESTART'
# Written by stackadm.
$nrconf{override_rc}{qr(^(containerd|kubelet|keepalived|systemd-networkd|stackadm-.+)\.service$)} = 0;
NEEDRESTART
}
