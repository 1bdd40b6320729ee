# shellcheck shell=bash
# Sets up IPv6 in addition to IPv4: the machine's address, forwarding, and a filter that blocks
# traffic from pods to the machines' ports. Runs after prepare.sh, in the same script.
# Values: IPV6_ADDRESS, the machine's address in Neutron; IPV6_POD_RANGE and IPV6_NODE_RANGE.

ipv6() {
  local device
  require IPV6_ADDRESS IPV6_POD_RANGE IPV6_NODE_RANGE
  # Waits for the address, because kubelet does not start with an address that the machine does not
  # have.
  poll 60 has_ipv6_address ||
    die "$(hostname) does not have its address $IPV6_ADDRESS of network.ipv6; choose an image that takes IPv6 addresses as the cloud describes them, made of the MAC address where the router advertises the range, or look at \`ip -6 address\` there"
  forward_ipv6
  guard_ipv6
}

has_ipv6_address() {
  device=$(ip -o -6 address show to "$IPV6_ADDRESS" | awk '!/ (tentative|dadfailed)( |$)/ { print $2; exit }')
  [[ -n $device ]]
}

# Enables forwarding. With forwarding, the kernel ignores router advertisements and loses the
# default route from earlier advertisements, unless accept_ra is 2. If accept_ra is 0, another
# program such as systemd-networkd handles router advertisements, so this function keeps 0.
forward_ipv6() {
  local advertised=''
  [[ $(sysctl -n "net/ipv6/conf/$device/accept_ra") == 0 ]] || advertised="net/ipv6/conf/$device/accept_ra = 2"
  write /etc/sysctl.d/91-stackadm-ipv6.conf <<SETTINGS
$advertised
net.ipv6.conf.all.forwarding = 1
SETTINGS
  sysctl -e -p /etc/sysctl.d/91-stackadm-ipv6.conf
  [[ $(sysctl -n net.ipv6.conf.all.forwarding) == 1 ]] || die "$(hostname) cannot enable IPv6 forwarding"
}

# Installs a filter like stackadm-guard. The filter does not need rules for link-local addresses,
# which stackadm-guard already blocks. The kernel forwards no link-local addresses, so pods do not
# reach the metadata service by IPv6.
guard_ipv6() {
  write /usr/local/sbin/stackadm-guard-ipv6 0755 <<'GUARD'
#!/bin/sh
# stackadm-guard-ipv6 POD-RANGE NODE-RANGE, see stackadm-guard.
set -e
drop() {
  ip6tables -w 60 -t mangle -C "$@" -j DROP 2>/dev/null || ip6tables -w 60 -t mangle -I "$@" -j DROP
}
for ports in 22 2379:2381 10250 10257:10259; do
  drop INPUT -s "$1" -p tcp --dport "$ports" -m conntrack --ctdir ORIGINAL
  drop FORWARD -s "$1" -d "$2" -p tcp --dport "$ports" -m conntrack --ctdir ORIGINAL
done
GUARD
  write /etc/systemd/system/kubelet.service.d/21-stackadm-guard-ipv6.conf 0600 <<GUARD
[Service]
ExecStartPre=/usr/local/sbin/stackadm-guard-ipv6 $IPV6_POD_RANGE $IPV6_NODE_RANGE
GUARD
  systemctl daemon-reload
  /usr/local/sbin/stackadm-guard-ipv6 "$IPV6_POD_RANGE" "$IPV6_NODE_RANGE" ||
    die "ip6tables on $(hostname) cannot keep pods away from the machines' own ports"
}

# The commands must not inherit the descriptors of the script's lock and of report_alive.
ipv6 8>&- 9>&- </dev/null
