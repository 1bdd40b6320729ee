# shellcheck shell=bash disable=SC2154
# What a machine needs of IPv6 beside IPv4: its address, forwarding, and pods kept away from the machines' own ports.
# Put after prepare.sh, whose step it belongs to.
# Values: IPV6_ADDRESS, the machine's in Neutron; IPV6_POD_RANGE and IPV6_NODE_RANGE.

ipv6() {
  local device
  require IPV6_ADDRESS IPV6_POD_RANGE IPV6_NODE_RANGE
  # kubelet does not start with an address that is not there.
  poll 60 has_ipv6_address ||
    die "$(hostname) does not have its address $IPV6_ADDRESS of network.ipv6; choose an image that takes IPv6 addresses as the cloud describes them, made of the MAC address where the router advertises the range, or look at \`ip -6 address\` there"
  forward_ipv6
  guard_ipv6
}

has_ipv6_address() {
  device=$(ip -o -6 address show to "$IPV6_ADDRESS" | awk '!/ (tentative|dadfailed)( |$)/ { print $2; exit }')
  [[ -n $device ]]
}

# A kernel that forwards takes no advertisements of routers any more and forgets the default route that it has of them, unless it is
# told before. Where something else takes them, like systemd-networkd, it is told to take none, and that stays.
forward_ipv6() {
  local advertised=''
  [[ $(sysctl -n "net/ipv6/conf/$device/accept_ra") == 0 ]] || advertised="net/ipv6/conf/$device/accept_ra = 2"
  write /etc/sysctl.d/91-stackadm-ipv6.conf <<SETTINGS
$advertised
net.ipv6.conf.all.forwarding = 1
SETTINGS
  sysctl -e -p /etc/sysctl.d/91-stackadm-ipv6.conf
  [[ $(sysctl -n net.ipv6.conf.all.forwarding) == 1 ]] || die "IPv6 forwarding cannot be switched on"
}

# As stackadm-guard, which keeps link-local addresses away. They are not forwarded, so the metadata service of IPv6 is out of reach.
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

# The locks are the step's, not the commands'.
ipv6 8>&- 9>&- </dev/null
