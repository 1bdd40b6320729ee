# shellcheck shell=bash
# Sets up the virtual IP, which the distribution's keepalived moves between control planes. Precedes
# control-plane.sh, which calls `virtual_ip` when the machine has its own address, and
# `await_virtual_ip` when its API answers.
# Values: see virtualIpVariables in endpoint/keepalived-documents.ts, empty without a virtual IP;
# ADDRESS, the machine's own.

readonly keepalived=/etc/keepalived/keepalived.conf

# virtual_ip: configures and starts keepalived, or disables keepalived in a cluster without a
# virtual IP. First runs before this machine has an API; keepalived takes the virtual IP when the
# API is ready.
virtual_ip() {
  local interface restart config peer
  if [[ -z $VIRTUAL_IP ]]; then
    no_virtual_ip
    return
  fi
  interface=$(interface_of "$ADDRESS")
  [[ -n $interface ]] || die "no interface of $(hostname) has the address $ADDRESS"
  # Only VRRP: the load balancing of keepalived needs a kernel module that not every kernel has.
  write /etc/default/keepalived 0644 'DAEMON_ARGS="--vrrp"'$'\n'
  restart=$changed
  config=${VIRTUAL_IP_CONFIG//@INTERFACE@/$interface}
  while read -r peer; do
    [[ $config == *"    $peer"$'\n'* ]] || config=${config/unicast_peer \{/unicast_peer \{$'\n'    $peer}
  done < <(former_peers)
  write "$keepalived" 0644 "$config"$'\n'
  systemctl enable keepalived
  # A reload keeps the virtual IP, a restart releases it.
  if [[ $restart == yes ]]; then
    systemctl restart keepalived
  elif [[ $changed == yes ]]; then
    systemctl reload-or-restart keepalived
  else
    systemctl start keepalived
  fi
}

# former_peers: prints the peers in the present keepalived.conf. virtual_ip keeps these peers: a
# control plane that is about to leave must still hear this machine, or it would take the virtual
# IP.
former_peers() {
  [[ ! -e $keepalived ]] || awk '/unicast_peer/ { inside = 1; next } /}/ { inside = 0 } inside { print $1 }' "$keepalived"
}

# no_virtual_ip: disables keepalived after a change of `endpoint.kind`, so that no machine has the
# virtual IP.
no_virtual_ip() {
  grep -qs '^# Written by stackadm' "$keepalived" || return 0
  systemctl disable --now keepalived
  rm -f "$keepalived"
}

await_virtual_ip() {
  [[ -n $VIRTUAL_IP ]] || return 0
  poll 60 virtual_ip_answers ||
    die "no control plane has the virtual IP $VIRTUAL_IP after 60 s; journalctl -u keepalived on $(hostname) says why"
}

virtual_ip_answers() {
  [[ -n $(interface_of "$VIRTUAL_IP") ]] ||
    [[ $(curl --silent --insecure --max-time "$((3 * factor))" "$VIRTUAL_IP_READY") == ok ]]
}

# interface_of ADDRESS: prints the network interface that has the address, or nothing.
interface_of() { ip -o addr show to "$1" | awk '{ print $2; exit }'; }
