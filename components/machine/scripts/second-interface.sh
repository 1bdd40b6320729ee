# shellcheck shell=bash
# Gives a machine's interface in the admin network its address, but no default route and no name
# servers: the machine answers there, and no other traffic leaves that way. cloud-init runs this at
# each boot, before a login is possible. Arguments: MAC ADDRESS/LENGTH RANGE MTU [GATEWAY].
set -eu
umask 022

mac=$1 address=$2 range=$3 mtu=$4 gateway=${5:-}
# Separate routing table: the main table is the same as without the interface.
readonly table=1022

# put FILE: replaces the file with standard input; fails if it was the same already.
put() {
  local new=$1.new
  mkdir -p "${1%/*}"
  cat >"$new"
  if cmp -s "$new" "$1"; then
    rm -f "$new"
    return 1
  fi
  mv -f "$new" "$1"
}

device() {
  ip -o link show | awk -v mac="$mac" '
    index(tolower($0), "link/ether " mac " ") { sub(/[@:].*/, "", $2); print $2; exit }'
}

# The file sorts before netplan's file for the interface, and networkd uses the first that matches.
networkd() {
  put /etc/systemd/network/05-stackadm-admin.network <<NETWORK || return 0
[Match]
MACAddress=$mac

[Link]
MTUBytes=$mtu
RequiredForOnline=no

[Network]
DHCP=no
IPv6AcceptRA=no
LinkLocalAddressing=no

[Address]
Address=$address
AddPrefixRoute=no

[Route]
Destination=$range
Scope=link
Table=$table

[RoutingPolicyRule]
From=${address%/*}
Table=$table
${gateway:+
[Route]
Gateway=$gateway
GatewayOnLink=yes
Table=$table
}
NETWORK
  # networkd reads the file when it starts. Waiting for that here might never end, since networkd
  # may start after cloud-init.
  case $(systemctl show --value -p ActiveState systemd-networkd) in
    # networkctl is not used: it needs D-Bus, which starts later.
    active | activating | reloading)
      # networkd would keep an address that is there, and with it the route that came by DHCP.
      ip address flush dev "$name"
      systemctl restart systemd-networkd
      ;;
  esac
}

# has_networkd: `is-active` is not used, since networkd may not run yet this early in the boot.
has_networkd() { systemctl is-enabled --quiet systemd-networkd || command -v netplan >/dev/null; }

# ifupdown: replaces the paragraph that cloud-init wrote for the interface.
ifupdown() {
  local theirs=/etc/network/interfaces.d/50-cloud-init paragraphs other
  [[ -e $theirs ]] || : >"$theirs"
  put /etc/network/interfaces.d/60-stackadm-admin <<INTERFACES || grep -Eq "^(auto|allow-hotplug|iface) $name( |\$)" "$theirs" || return 0
auto $name
iface $name inet manual
    mtu $mtu
    up ip link set dev $name up
    up ip address replace $address dev $name noprefixroute
    up ip route replace $range dev $name table $table
${gateway:+    up ip route replace default via $gateway dev $name onlink table $table
}    up ip rule del from ${address%/*} table $table 2>/dev/null || true
    up ip rule add from ${address%/*} table $table
INTERFACES
  ifdown --force "$name" || :
  # cloud-init writes its file only for a new server. If that boot was cut short, the paragraph is
  # still there.
  paragraphs=$(awk -v RS= -v ORS='\n\n' -v name="$name" '
    $0 !~ "(^|\n)(auto|allow-hotplug|iface) " name "( |\n|$)"' "$theirs")
  printf '%s\n' "$paragraphs" | put "$theirs" || :
  ip address flush dev "$name"
  ifup "$name"
  # The interface that used DHCP last set name servers and default route: let the others use it
  # again.
  while read -r other; do
    ifdown --force "$other" </dev/null || :
    ifup "$other" </dev/null
  done < <(awk '$1 == "iface" && $3 == "inet" && $4 == "dhcp" { print $2 }' "$theirs")
}

name=$(device)
if [[ -z $name ]]; then
  echo "no interface has the address $mac" >&2
  exit 1
fi
if has_networkd; then
  networkd
elif command -v ifup >/dev/null; then
  ifupdown
else
  echo "neither systemd-networkd nor ifupdown configures the interfaces of this image" >&2
  exit 1
fi
