"""nftables rules with which a load balancer's namespace forwards UDP (pure functions).

The kernel forwards by address translation (Octavia documents IPVS for amphorae). A flow keeps
its member. Members see the load balancer's address. Packets are rejected if their client is not
allowed or the load balancer has no member.
"""
import re

from labdriver.load_balancers import statuses
from labdriver.load_balancers.haproxy import (
    find_active_pool, get_weight, is_udp, list_active_listeners, list_present_objects)

TABLE = 'table ip lb'
NOTHING = '%s\ndelete %s\n' % (TABLE, TABLE)
# selection of a member; the kernel does not count flows, so least connections is round robin
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
    """Return rules that replace the existing rules. They are empty if there is no UDP listener.

    rows are haproxy's statistics. Members that are not healthy in rows get no new flows.
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
    """Return the members for new flows: backup members only if there are no other members."""
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
    """Return (port of a listener, address of a member, clients) of flows that the rules allow."""
    return {(found.group(1), address, found.group(2)) for line in text.splitlines()
            if (found := re.search(r'udp dport (\d+) (.*)dnat to', line))
            for address in re.findall(r': (\S+) \. ', line)}
