"""haproxy configuration of a load balancer, from Octavia's database objects (pure functions).

Times without a unit are in milliseconds, the default of Octavia and haproxy. Frontends, backends
and servers have the IDs of their Octavia objects as names, so that haproxy's statistics contain
these IDs. haproxy does not forward UDP. For UDP listeners, haproxy only checks the health of
members, and the kernel forwards the packets by the rules of udp_rules.py.
"""
import os

BALANCE = {'ROUND_ROBIN': 'roundrobin', 'LEAST_CONNECTIONS': 'leastconn', 'SOURCE_IP': 'source',
           'SOURCE_IP_PORT': 'source'}
PROXY = {'PROXY': ' send-proxy', 'PROXYV2': ' send-proxy-v2'}
REFUSING = {'SSLv3': 'no-sslv3', 'TLSv1': 'no-tlsv10', 'TLSv1.1': 'no-tlsv11',
            'TLSv1.2': 'no-tlsv12', 'TLSv1.3': 'no-tlsv13'}
DELETED = 'PENDING_DELETE'
STICK_TIME = '30m'
UDP_CHECK = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'udp_connect.py')


def is_present(thing):
    """Return whether an object is not None and not being deleted."""
    return thing is not None and thing.provisioning_status != DELETED


def list_present_objects(things):
    """Return the objects that are not being deleted, sorted by ID for a stable configuration."""
    return sorted((thing for thing in things if is_present(thing)), key=lambda thing: thing.id)


def list_active_listeners(balancer):
    """Return the listeners that accept connections."""
    if not balancer.enabled:
        return []
    return [listener for listener in list_present_objects(balancer.listeners) if listener.enabled]


def is_udp(thing):
    """Return whether a listener or pool is UDP. A listener and its pool have the same protocol."""
    return thing.protocol == 'UDP'


def terminates_tls(listener):
    return listener.protocol == 'TERMINATED_HTTPS'


def speaks_http(listener):
    return listener.protocol == 'HTTP' or terminates_tls(listener)


def find_active_pool(listener):
    """Return the enabled pool of a listener, or None."""
    pool = listener.default_pool
    return pool if is_present(pool) and pool.enabled else None


def list_active_pools(balancer):
    """Return (pool, a listener that uses it) pairs. Leave out pools without a listener."""
    found = {}
    for listener in list_active_listeners(balancer):
        pool = find_active_pool(listener)
        if pool:
            found.setdefault(pool.id, (pool, listener))
    return list(found.values())


def list_check_only_pools(balancer):
    """Return the pools for which haproxy only checks the members' health."""
    return [pool for pool, _ in list_active_pools(balancer) if is_udp(pool)]


def list_member_subnets(balancer):
    """Return the IDs of the members' subnets, except the subnet of the load balancer's address."""
    found = {member.subnet_id for pool in list_present_objects(balancer.pools)
             for member in list_present_objects(pool.members)}
    return sorted(found - {None, balancer.vip.subnet_id})


def render(balancer, socket, certificates=None):
    """Return the configuration, or an empty text if haproxy has nothing to do.

    certificates: {listener's id: paths of PEM files} of listeners that terminate TLS.
    """
    listeners = [one for one in list_active_listeners(balancer) if not is_udp(one)]
    pools = list_active_pools(balancer)
    if not listeners and not list_check_only_pools(balancer):
        return ''
    lines = ['global', '  stats socket %s mode 600 level admin expose-fd listeners' % socket,
             '  maxconn 4000', '  hard-stop-after 30s']
    if any(is_present(pool.health_monitor) and pool.health_monitor.type == 'UDP-CONNECT'
           for pool in list_check_only_pools(balancer)):
        lines += ['  external-check', '  insecure-fork-wanted']
    lines += ['defaults', '  retries 3', '  option redispatch']
    for listener in listeners:
        lines += render_frontend(balancer, listener, (certificates or {}).get(listener.id, ()))
    for pool, listener in pools:
        lines += render_check_only_backend(pool) if is_udp(pool) else render_backend(pool, listener)
    return '\n'.join(lines) + '\n'


def list_expected_ids(balancer):
    """Return the IDs of all listeners and members that a running haproxy must have."""
    found = {listener.id for listener in list_active_listeners(balancer) if not is_udp(listener)}
    for pool, _ in list_active_pools(balancer):
        found |= {member.id for member in list_present_objects(pool.members)}
    return found


def format_host_port(address, port):
    """Return address and port in haproxy's notation."""
    return ('[%s]:%s' if ':' in address else '%s:%s') % (address, port)


def render_frontend(balancer, listener, certificates=()):
    """Return the lines of the frontend of a listener."""
    lines = ['frontend ' + listener.id,
             '  bind ' + format_host_port(balancer.vip.ip_address, listener.protocol_port)
             + (render_tls_words(listener, certificates) if terminates_tls(listener) else ''),
             '  mode ' + get_mode(listener),
             '  timeout client %d' % (listener.timeout_client_data or 50000)]
    if (listener.connection_limit or 0) > 0:
        lines.append('  maxconn %d' % listener.connection_limit)
    if listener.allowed_cidrs:
        cidrs = sorted(entry.cidr for entry in listener.allowed_cidrs)
        lines.append('  tcp-request connection reject unless { src %s }' % ' '.join(cidrs))
    if listener.timeout_tcp_inspect:
        lines.append('  tcp-request inspect-delay %d' % listener.timeout_tcp_inspect)
    if speaks_http(listener):
        proto = 'https' if terminates_tls(listener) else 'http'
        lines += render_inserted_headers(listener.insert_headers or {}, proto)
    pool = find_active_pool(listener)
    if pool:
        lines.append('  default_backend ' + pool.id)
    return lines


def get_mode(listener):
    return 'http' if speaks_http(listener) else 'tcp'


def render_tls_words(listener, certificates):
    """Return the TLS options of a bind line: certificates, versions, ciphers, application
    protocols."""
    words = ' ssl' + ''.join(' crt ' + path for path in certificates)
    if listener.tls_versions:
        words += ''.join(' ' + word for version, word in REFUSING.items()
                         if version not in listener.tls_versions)
    if listener.tls_ciphers:
        words += ' ciphers ' + listener.tls_ciphers
    if listener.alpn_protocols:
        words += ' alpn ' + ','.join(listener.alpn_protocols)
    return words


def render_inserted_headers(headers, proto):
    """Return the lines for the headers that Octavia can insert."""
    wanted = {name for name, value in headers.items() if str(value).lower() == 'true'}
    lines = []
    if 'X-Forwarded-For' in wanted:
        lines.append('  option forwardfor')
    if 'X-Forwarded-Port' in wanted:
        lines.append('  http-request set-header X-Forwarded-Port %[dst_port]')
    if 'X-Forwarded-Proto' in wanted:
        lines.append('  http-request set-header X-Forwarded-Proto ' + proto)
    return lines


def render_backend(pool, listener):
    """Return the lines of the backend of a pool."""
    lines = ['backend ' + pool.id, '  mode ' + get_mode(listener),
             '  balance ' + BALANCE[pool.lb_algorithm],
             '  timeout connect %d' % (listener.timeout_member_connect or 5000),
             '  timeout server %d' % (listener.timeout_member_data or 50000)]
    lines += render_persistence(pool.session_persistence)
    monitored, check = render_health_check(pool)
    return lines + monitored + [render_server(member, pool, check)
                                for member in list_present_objects(pool.members)]


def render_check_only_backend(pool):
    """Return the lines for a pool of UDP listeners. haproxy only checks the health of its members.

    haproxy does not pass `addr` and `port` to an external check. So the server line contains the
    address and port to check.
    """
    monitored, check = render_health_check(pool)
    return ['backend ' + pool.id, '  mode tcp', '  timeout connect 5000', '  timeout server 5000',
            *monitored] + ['  server %s %s weight %d%s%s' % (
                member.id,
                format_host_port(member.monitor_address or member.ip_address,
                                 member.monitor_port or member.protocol_port),
                get_weight(member), check, '' if member.enabled else ' disabled')
                for member in list_present_objects(pool.members)]


def get_weight(member):
    return 1 if member.weight is None else member.weight


def render_persistence(rule):
    """Return the lines for session persistence."""
    if not rule:
        return []
    if rule.type == 'HTTP_COOKIE':
        return ['  cookie SRV insert indirect nocache']
    if rule.type == 'APP_COOKIE':
        return ['  stick-table type string len 64 size 10k expire ' + STICK_TIME,
                '  stick store-response res.cook(%s)' % rule.cookie_name,
                '  stick match req.cook(%s)' % rule.cookie_name]
    return ['  stick-table type ipv6 size 10k expire ' + STICK_TIME, '  stick on src']


def render_health_check(pool):
    """Return (lines of the backend, options of each server line) for the members' health checks."""
    monitor = pool.health_monitor
    if is_present(monitor) and monitor.enabled:
        return render_monitor_lines(monitor), render_check_words(monitor)
    return [], ''


def render_monitor_lines(monitor):
    """Return the lines for a health check's request and expected answer."""
    lines = ['  timeout check %ds' % monitor.timeout]
    if monitor.type in ('HTTP', 'HTTPS'):
        request = '  http-check send meth %s uri %s' % (monitor.http_method or 'GET',
                                                        monitor.url_path or '/')
        if monitor.http_version:
            request += ' ver HTTP/%.1f' % monitor.http_version
        if monitor.domain_name:
            request += ' hdr Host ' + monitor.domain_name
        pattern = render_status_pattern(monitor.expected_codes)
        lines += ['  option httpchk', request, '  http-check expect rstatus ^(%s)$' % pattern]
    elif monitor.type == 'TLS-HELLO':
        lines.append('  option ssl-hello-chk')
    elif monitor.type == 'UDP-CONNECT':
        lines += ['  option external-check', '  external-check command ' + UDP_CHECK]
    return lines


def render_status_pattern(codes):
    """Return a regular expression for Octavia's expected codes: '200', '200,202' or '200-204'."""
    codes = (codes or '200').replace(' ', '')
    if '-' in codes:
        first, last = codes.split('-')
        return '|'.join(str(code) for code in range(int(first), int(last) + 1))
    return '|'.join(codes.split(','))


def render_check_words(monitor):
    """Return the options of a server line that enable the health check."""
    words = ' check inter %ds fall %d rise %d' % (monitor.delay, monitor.fall_threshold,
                                                  monitor.rise_threshold)
    return words + (' check-ssl verify none' if monitor.type == 'HTTPS' else '')


def render_server(member, pool, check):
    """Return the server line of a member."""
    words = '  server %s %s weight %d' % (
        member.id, format_host_port(member.ip_address, member.protocol_port), get_weight(member))
    if check:
        words += check
        if member.monitor_address:
            words += ' addr ' + member.monitor_address
        if member.monitor_port:
            words += ' port %d' % member.monitor_port
    rule = pool.session_persistence
    if rule and rule.type == 'HTTP_COOKIE':
        words += ' cookie ' + member.id
    words += PROXY.get(pool.protocol, '')
    if pool.protocol in PROXY and check:
        words += ' check-send-proxy'
    return words + (' backup' if member.backup else '') + ('' if member.enabled else ' disabled')
