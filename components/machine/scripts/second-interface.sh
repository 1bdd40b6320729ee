# shellcheck shell=bash
# Gives a machine's interface in the admin network its address, and takes from that network neither a default route nor name
# servers: what comes in there is answered there, and nothing else leaves that way. cloud-init runs it at each boot, before
# anybody can log in. Arguments: MAC ADDRESS/LENGTH RANGE MTU [GATEWAY].
set -eu
umask 022

mac=$1 address=$2 range=$3 mtu=$4 gateway=${5:-}
# A table of our own: the main one stays as it would be without the interface.
readonly table=1022

# put FILE: replaces it with standard input, and tells whether it is another.
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

# Sorts before what netplan makes of the cloud's description of the interface, and the first file that matches is the one.
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
  # A networkd that has not started yet reads the file at its start. Waiting for it here could wait for ever: it may start after cloud-init.
  case $(systemctl show --value -p ActiveState systemd-networkd) in
    # Not by networkctl, which asks by D-Bus: that starts after this.
    active | activating | reloading)
      # An address that it has stays as it is, and with it the route that DHCP's brought.
      ip address flush dev "$name"
      systemctl restart systemd-networkd
      ;;
  esac
}

# Not by `is-active`: this early in the boot networkd may not run yet.
has_networkd() { systemctl is-enabled --quiet systemd-networkd || command -v netplan >/dev/null; }

# cloud-init wrote what the cloud says of the interface, in a paragraph of its own.
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
  # cloud-init writes its file once, for a new server; where that boot was cut short, it is still as it was.
  paragraphs=$(awk -v RS= -v ORS='\n\n' -v name="$name" '
    $0 !~ "(^|\n)(auto|allow-hotplug|iface) " name "( |\n|$)"' "$theirs")
  printf '%s\n' "$paragraphs" | put "$theirs" || :
  ip address flush dev "$name"
  ifup "$name"
  # Whoever asked last for an address left its name servers and its default route: let the others ask again.
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
