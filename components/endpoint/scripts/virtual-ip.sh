# shellcheck shell=bash disable=SC2154
# The address that control planes hand to each other, by keepalived of the distribution. Put before control-plane.sh, which
# calls `virtual_ip` when the machine has its own address, and `await_virtual_ip` when its API answers.
# Values: see virtualIpValues in endpoint/keepalived-documents.ts, empty without a virtual IP; ADDRESS, the machine's own.

readonly keepalived=/etc/keepalived/keepalived.conf

# Until the API here is ready, keepalived leaves the address alone: the first time is before there is an API.
virtual_ip() {
  local interface restart config peer
  if [[ -z $VIRTUAL_IP ]]; then
    no_virtual_ip
    return
  fi
  interface=$(interface_of "$ADDRESS")
  [[ -n $interface ]] || die "no interface of $(hostname) has the address $ADDRESS"
  # Only addresses: balancing needs a module that not every kernel has.
  write /etc/default/keepalived 0644 'DAEMON_ARGS="--vrrp"'$'\n'
  restart=$changed
  config=${VIRTUAL_IP_CONFIG//@INTERFACE@/$interface}
  while read -r peer; do
    [[ $config == *"    $peer"$'\n'* ]] || config=${config/unicast_peer \{/unicast_peer \{$'\n'    $peer}
  done < <(former_peers)
  write "$keepalived" 0644 "$config"$'\n'
  systemctl enable keepalived
  # Who reads its file anew keeps the address; who starts anew lets go of it.
  if [[ $restart == yes ]]; then
    systemctl restart keepalived
  elif [[ $changed == yes ]]; then
    systemctl reload-or-restart keepalived
  else
    systemctl start keepalived
  fi
}

# Who was a peer stays one: a control plane that is about to leave would take the address from one that it hears no more.
former_peers() {
  [[ ! -e $keepalived ]] || awk '/unicast_peer/ { inside = 1; next } /}/ { inside = 0 } inside { print $1 }' "$keepalived"
}

# Another kind of endpoint took its place: nobody may answer at the address any more.
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

# interface_of ADDRESS: the interface that has it, or nothing.
interface_of() { ip -o addr show to "$1" | awk '{ print $2; exit }'; }
