# shellcheck shell=bash
# Sets up the virtual IP, which keepalived from the distribution moves between control planes.
# Library of control-plane.sh, which calls `virtual_ip` before kubeadm and `await_virtual_ip` after
# the API server answers.
# Values: see virtualIpVariables in endpoint/keepalived-documents.ts (empty without a virtual IP);
# ADDRESS, the machine's address.

readonly keepalived=/etc/keepalived/keepalived.conf

# Configures and starts keepalived. Disables keepalived if the cluster has no virtual IP. At the
# first call, this machine has no API server yet; keepalived takes the virtual IP when the API
# server is ready.
virtual_ip() {
  local interface restart config peer
  if [[ -z $VIRTUAL_IP ]]; then
    no_virtual_ip
    return
  fi
  interface=$(interface_of "$ADDRESS")
  [[ -n $interface ]] || die "no interface of $(hostname) has the address $ADDRESS"
  # Starts only VRRP, because load balancing by keepalived needs a kernel module that some kernels
  # lack.
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

# Prints the peers in the present keepalived.conf. virtual_ip keeps these peers, because a control
# plane that will be removed must still receive this machine's advertisements. Otherwise that
# control plane would take the virtual IP.
former_peers() {
  [[ ! -e $keepalived ]] || awk '/unicast_peer/ { inside = 1; next } /}/ { inside = 0 } inside { print $1 }' "$keepalived"
}

# Disables keepalived after a change of `endpoint.kind`, so that no machine keeps the virtual IP.
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
