# shellcheck shell=bash disable=SC2154
# The address that control planes hand to each other. Read by the scripts that come after this one.
# Values: VIRTUAL_IP_CONFIG, keepalived's configuration, or nothing; ADDRESS, the machine's own.

readonly keepalived=/etc/keepalived/keepalived.conf

virtual_ip() {
  local interface
  if [[ -z $VIRTUAL_IP_CONFIG ]]; then
    [[ -e $keepalived ]] || return 0
    systemctl disable --now keepalived || say "$(hostname): keepalived goes on"
    rm -f "$keepalived"
    return
  fi
  interface=$(ip -o addr show | awk -v own="$ADDRESS" '{ split($4, part, "/") } part[1] == own { print $2; exit }')
  [[ -n $interface ]] || die "no interface of $(hostname) has the address $ADDRESS"
  # Only addresses: balancing needs a module that not every kernel has.
  write /etc/default/keepalived <<<'DAEMON_ARGS="-P"'
  write "$keepalived" 0600 <<<"${VIRTUAL_IP_CONFIG//@INTERFACE@/$interface}"
  systemctl enable keepalived
  if [[ $changed == yes ]]; then systemctl restart keepalived; else systemctl start keepalived; fi
}
