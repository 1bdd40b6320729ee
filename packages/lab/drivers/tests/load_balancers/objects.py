"""Load balancers in the form of Octavia's database objects, for tests."""
from types import SimpleNamespace


def member(name, address='10.0.0.5', **fields):
    """Return an active member that is not monitored."""
    values = dict(id=name, ip_address=address, subnet_id=None, protocol_port=80, weight=1,
                  backup=False, monitor_address=None, monitor_port=None, enabled=True, pool=None,
                  provisioning_status='ACTIVE', operating_status='NO_MONITOR')
    return SimpleNamespace(**dict(values, **fields))


def monitor(kind='HTTP', **fields):
    """Return a health monitor with the API's defaults."""
    values = dict(id='monitor', type=kind, delay=5, timeout=3, fall_threshold=2, rise_threshold=1,
                  http_method='GET', url_path='/healthz', expected_codes='200', http_version=None,
                  domain_name=None, enabled=True, provisioning_status='ACTIVE',
                  operating_status='ONLINE')
    return SimpleNamespace(**dict(values, **fields))


def pool(name='pool', members=(), **fields):
    """Return a round-robin HTTP pool."""
    values = dict(id=name, protocol='HTTP', lb_algorithm='ROUND_ROBIN', enabled=True,
                  session_persistence=None, health_monitor=None, members=list(members),
                  provisioning_status='ACTIVE', operating_status='ONLINE')
    made = SimpleNamespace(**dict(values, **fields))
    for each in made.members:
        each.pool = made
    return made


def listener(name='listener', default_pool=None, **fields):
    """Return an HTTP listener on port 80."""
    values = dict(id=name, protocol='HTTP', protocol_port=80, enabled=True, connection_limit=-1,
                  allowed_cidrs=[], insert_headers=None, default_pool=default_pool,
                  timeout_client_data=50000, timeout_member_connect=5000,
                  timeout_member_data=50000, timeout_tcp_inspect=0, tls_ciphers=None,
                  tls_versions=None, alpn_protocols=None,
                  provisioning_status='ACTIVE', operating_status='ONLINE')
    return SimpleNamespace(**dict(values, **fields))


def cidr(text):
    return SimpleNamespace(cidr=text)


def balancer(listeners=(), pools=(), **fields):
    """Return a load balancer with an IPv4 address."""
    vip = SimpleNamespace(ip_address='10.0.0.10', subnet_id='vip-subnet', port_id='f7b9d0f2-port',
                          octavia_owned=True)
    values = dict(id='balancer', enabled=True, vip=vip, listeners=list(listeners),
                  pools=list(pools), provisioning_status='ACTIVE', operating_status='ONLINE')
    return SimpleNamespace(**dict(values, **fields))


def simple(**fields):
    """Return a load balancer with one listener, one pool, two members."""
    one = pool(members=[member('m1', '10.0.0.5'), member('m2', '10.0.0.6')])
    return balancer([listener(default_pool=one)], [one], **fields)


def udp(**fields):
    """Return a load balancer with one UDP listener on port 53, one pool, two checked members."""
    one = pool(members=[member('m1', '10.0.0.5'), member('m2', '10.0.0.6')], protocol='UDP',
               health_monitor=monitor('UDP-CONNECT'), **fields)
    return balancer([listener(default_pool=one, protocol='UDP', protocol_port=53)], [one])
