# shellcheck shell=bash
# Turns the distribution's automatic security updates on or off, and keeps the network and services
# running during updates. Library of prepare.sh and bastion-logins-and-updates.sh.
# Value: SECURITY_UPDATES, `yes` or `no`.

# Enables or disables the updates, after the packages of Kubernetes are held. Until then, a file
# from user data (user-data.ts) disables the updates, because an update would hold apt's lock.
# cloud-init may write the file from user data again. The name of the file here sorts after the name
# of that file, so that the settings here take precedence.
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

# Makes systemd-networkd keep addresses and routes during a restart. Each update of systemd restarts
# systemd-networkd, which otherwise removes routes, rules and addresses of other programs: those of
# the pod network, and the virtual IP. systemd-networkd also drops an address from DHCP until DHCP
# assigns the address again. Without an address, the kernel drops all routes of the interface.
# systemd-networkd reads the files when it starts, at the latest after the next update. Sets
# `changed` to yes or no.
keep_network() {
  local told=no file files
  changed=no
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
  changed=$told
}

# Prints the names of systemd-networkd's files for interfaces that have an address.
network_files() {
  local device
  for device in $(ip -o -4 address show scope global | awk '!known[$2]++ { print $2 }'); do
    networkctl --no-pager status "$device" | sed -n 's|^ *Network File: /.*/||p'
  done
}

# Excludes services from needrestart. needrestart, which Ubuntu's images contain, restarts a service
# after an update of a library that the service uses. Pods would then lose connections, the virtual
# IP would move, and a running script would start again. The services in this file use the new
# library after the next reboot.
keep_services() {
  write /etc/needrestart/conf.d/50-stackadm.conf <<'NEEDRESTART'
# Written by stackadm.
$nrconf{override_rc}{qr(^(containerd|kubelet|keepalived|systemd-networkd|stackadm-.+)\.service$)} = 0;
NEEDRESTART
}
