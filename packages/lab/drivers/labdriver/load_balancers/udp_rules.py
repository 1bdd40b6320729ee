"""nftables rules with which a load balancer's namespace forwards UDP (pure functions).

The kernel translates the destination address (DNAT). Amphorae would use IPVS. All packets of a
flow go to the same member. Members see the load balancer's address as the source. Packets are
rejected if the client is not allowed or no member is usable.
"""
import re

from labdriver.load_balancers import statuses
from labdriver.load_balancers.haproxy import (
    find_active_pool, get_weight, is_udp, list_active_listeners, list_present_objects)

TABLE = 'table ip lb'
NOTHING = '%s\ndelete %s\n' % (TABLE, TABLE)
# expression that selects a member; the kernel does not count flows, so LEAST_CONNECTIONS uses round
# robin
HOW = {'ROUND_ROBIN': 'numgen inc mod %d', 'LEAST_CONNECTIONS': 'numgen inc mod %d',
       'SOURCE_IP': 'jhash ip saddr mod %d seed 1',
       'SOURCE_IP_PORT': 'jhash ip saddr . udp sport mod %d seed 1'}
CHAINS = '''
  chain out {
    type nat hook postrouting priority srcnat
    ct status dnat masquerade
  }
  chain through {
    type filter hook forward priority filter; policy drop
    ct status dnat accept
  }
  chain own {
    type filter hook input priority filter
    meta l4proto udp ct direction original reject
  }
}
'''


def render(balancer, rows):
    """Return rules that replace the existing rules, or an empty text without a UDP listener.

    rows: the statistics of haproxy. Members that are not healthy in rows get no new flows.
    """
    listeners = [one for one in list_active_listeners(balancer) if is_udp(one)]
    if not listeners:
        return ''
    unwell = {row['svname'] for row in rows
              if statuses.get_operating_status(row['status']) in ('ERROR', 'OFFLINE', 'DRAINING')}
    lines = [TABLE + ' {', '  chain in {', '    type nat hook prerouting priority dstnat']
    for listener in listeners:
        members = list_usable_members(listener, unwell)
        if members:
            lines.append('    ' + render_rule(balancer.vip.ip_address, listener, members))
    return NOTHING + '\n'.join(lines) + '\n  }' + CHAINS


def list_usable_members(listener, unwell):
    """Return the members that get new flows. Include backup members only if there are no others."""
    pool = find_active_pool(listener)
    found = [member for member in list_present_objects(pool.members if pool else [])
             if member.enabled and get_weight(member) > 0 and member.id not in unwell]
    return [member for member in found if not member.backup] or found


def render_rule(address, listener, members):
    """Return the rule of one listener."""
    words = 'ip daddr %s udp dport %d ' % (address, listener.protocol_port)
    if listener.allowed_cidrs:
        cidrs = sorted(entry.cidr for entry in listener.allowed_cidrs)
        words += 'ip saddr { %s } ' % ', '.join(cidrs)
    ends, shares = 0, []
    for member in members:
        first, ends = ends, ends + get_weight(member)
        shares.append('%d-%d : %s . %d' % (first, ends - 1, member.ip_address,
                                           member.protocol_port))
    pool = listener.default_pool
    turn = HOW['SOURCE_IP' if pool.session_persistence else pool.lb_algorithm] % ends
    return words + 'dnat to %s map { %s }' % (turn, ', '.join(shares))


def parse_allowed_flows(text):
    """Return the flows that rules allow: (listener's port, member's address, text for clients)."""
    return {(found.group(1), address, found.group(2)) for line in text.splitlines()
            if (found := re.search(r'udp dport (\d+) (.*)dnat to', line))
            for address in re.findall(r': (\S+) \. ', line)}
