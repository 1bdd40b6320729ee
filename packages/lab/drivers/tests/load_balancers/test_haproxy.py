"""The haproxy configuration of a load balancer."""
import unittest
from types import SimpleNamespace

from labdriver.load_balancers import haproxy
from tests.load_balancers import objects


def lines(balancer):
    """Return the configuration, line by line, without indentation."""
    return [line.strip() for line in haproxy.render(balancer, '/run/stats').splitlines()]


def backend_of(**fields):
    """Return the lines of a load balancer with one member in a pool with these fields."""
    one = objects.pool(members=[objects.member('m1')], **fields)
    return lines(objects.balancer([objects.listener(default_pool=one)], [one]))


class MemberSubnetsTest(unittest.TestCase):
    def test_are_those_of_members_that_stay_but_that_of_the_address(self):
        def pool(name, *subnets, **fields):
            members = [objects.member('%s%d' % (name, i), subnet_id=subnet)
                       for i, subnet in enumerate(subnets)]
            return objects.pool(name, members, **fields)
        going = pool('going', 'of-going', provisioning_status='PENDING_DELETE')
        leaving = pool('leaving', 'of-leaving')
        leaving.members[0].provisioning_status = 'PENDING_DELETE'
        one = pool('one', 'b', 'vip-subnet', None, 'a', 'b')
        balancer = objects.balancer(pools=[one, going, leaving])
        self.assertEqual(haproxy.list_member_subnets(balancer), ['a', 'b'])
        self.assertEqual(haproxy.list_member_subnets(objects.simple()), [])


class RenderTest(unittest.TestCase):
    def test_is_empty_without_listener(self):
        self.assertEqual(haproxy.render(objects.balancer(), '/run/stats'), '')

    def test_is_empty_when_disabled(self):
        self.assertEqual(haproxy.render(objects.simple(enabled=False), '/run/stats'), '')

    def test_leaves_out_disabled_and_deleted_listeners(self):
        kept = objects.listener('kept')
        others = [objects.listener('off', enabled=False),
                  objects.listener('gone', provisioning_status='PENDING_DELETE')]
        found = [line for line in lines(objects.balancer([kept, *others]))
                 if line.startswith('frontend')]
        self.assertEqual(found, ['frontend kept'])

    def test_simple_balancer(self):
        found = lines(objects.simple())
        for line in ('frontend listener', 'bind 10.0.0.10:80', 'mode http',
                     'default_backend pool', 'backend pool', 'balance roundrobin',
                     'server m1 10.0.0.5:80 weight 1', 'server m2 10.0.0.6:80 weight 1',
                     'stats socket /run/stats mode 600 level admin expose-fd listeners'):
            self.assertIn(line, found)

    def test_does_not_depend_on_the_order_of_rows(self):
        one, other = objects.simple(), objects.simple()
        other.pools[0].members.reverse()
        self.assertEqual(haproxy.render(one, 's'), haproxy.render(other, 's'))

    def test_a_pool_of_two_listeners_appears_once(self):
        one = objects.pool(members=[objects.member('m1')])
        found = lines(objects.balancer([objects.listener('a', one),
                                        objects.listener('b', one, protocol_port=81)], [one]))
        self.assertEqual(found.count('backend pool'), 1)
        self.assertEqual(found.count('default_backend pool'), 2)

    def test_deleted_pool_is_not_referred_to(self):
        one = objects.pool(provisioning_status='PENDING_DELETE')
        found = lines(objects.balancer([objects.listener(default_pool=one)], [one]))
        self.assertNotIn('default_backend pool', found)
        self.assertNotIn('backend pool', found)

    def test_deleted_member_is_left_out(self):
        balancer = objects.simple()
        balancer.pools[0].members[0].provisioning_status = 'PENDING_DELETE'
        self.assertFalse([line for line in lines(balancer) if line.startswith('server m1')])


class FrontendTest(unittest.TestCase):
    def frontend(self, **fields):
        return lines(objects.balancer([objects.listener(**fields)]))

    def test_tcp_and_https_pass_through(self):
        for protocol in ('TCP', 'HTTPS'):
            self.assertIn('mode tcp', self.frontend(protocol=protocol))

    def test_ipv6_address(self):
        balancer = objects.balancer([objects.listener()])
        balancer.vip.ip_address = 'fd00::10'
        self.assertIn('bind [fd00::10]:80', lines(balancer))

    def test_allowed_cidrs_reject_the_rest(self):
        found = self.frontend(allowed_cidrs=[objects.cidr('192.0.2.0/24'),
                                             objects.cidr('10.0.0.0/8')])
        self.assertIn('tcp-request connection reject unless { src 10.0.0.0/8 192.0.2.0/24 }',
                      found)

    def test_no_cidrs_reject_nothing(self):
        self.assertFalse([line for line in self.frontend() if 'reject' in line])

    def test_connection_limit(self):
        self.assertIn('maxconn 7', self.frontend(connection_limit=7))
        self.assertFalse([line for line in self.frontend(connection_limit=-1)
                          if line.startswith('maxconn') and line != 'maxconn 4000'])

    def test_timeouts(self):
        one = objects.pool()
        found = lines(objects.balancer([objects.listener(
            default_pool=one, timeout_client_data=1000, timeout_member_connect=2000,
            timeout_member_data=3000, timeout_tcp_inspect=40)], [one]))
        for line in ('timeout client 1000', 'timeout connect 2000', 'timeout server 3000',
                     'tcp-request inspect-delay 40'):
            self.assertIn(line, found)

    def test_inserted_headers(self):
        found = self.frontend(insert_headers={'X-Forwarded-For': 'true',
                                              'X-Forwarded-Port': 'True',
                                              'X-Forwarded-Proto': 'false'})
        self.assertIn('option forwardfor', found)
        self.assertIn('http-request set-header X-Forwarded-Port %[dst_port]', found)
        self.assertNotIn('http-request set-header X-Forwarded-Proto http', found)

    def test_tcp_listener_inserts_no_headers(self):
        found = self.frontend(protocol='TCP', insert_headers={'X-Forwarded-For': 'true'})
        self.assertNotIn('option forwardfor', found)


class BackendTest(unittest.TestCase):
    def test_algorithms(self):
        for algorithm, word in haproxy.BALANCE.items():
            self.assertIn('balance ' + word, backend_of(lb_algorithm=algorithm))

    def test_proxy_protocols(self):
        self.assertIn('server m1 10.0.0.5:80 weight 1 send-proxy', backend_of(protocol='PROXY'))
        self.assertIn('server m1 10.0.0.5:80 weight 1 send-proxy-v2',
                      backend_of(protocol='PROXYV2'))

    def test_checks_of_a_proxy_pool_speak_proxy_too(self):
        found = backend_of(protocol='PROXY', health_monitor=objects.monitor('TCP'))
        self.assertIn('server m1 10.0.0.5:80 weight 1 check inter 5s fall 2 rise 1'
                      ' send-proxy check-send-proxy', found)

    def test_cookie_persistence(self):
        found = backend_of(session_persistence=SimpleNamespace(type='HTTP_COOKIE',
                                                               cookie_name=None))
        self.assertIn('cookie SRV insert indirect nocache', found)
        self.assertIn('server m1 10.0.0.5:80 weight 1 cookie m1', found)

    def test_application_cookie_persistence(self):
        found = backend_of(session_persistence=SimpleNamespace(type='APP_COOKIE',
                                                               cookie_name='JSESSIONID'))
        self.assertIn('stick store-response res.cook(JSESSIONID)', found)
        self.assertIn('stick match req.cook(JSESSIONID)', found)

    def test_source_persistence(self):
        found = backend_of(session_persistence=SimpleNamespace(type='SOURCE_IP',
                                                               cookie_name=None))
        self.assertIn('stick on src', found)

    def test_http_monitor(self):
        found = backend_of(health_monitor=objects.monitor(
            expected_codes='200-202', http_version=1.1, domain_name='example.org'))
        for line in ('option httpchk', 'timeout check 3s',
                     'http-check send meth GET uri /healthz ver HTTP/1.1 hdr Host example.org',
                     'http-check expect rstatus ^(200|201|202)$',
                     'server m1 10.0.0.5:80 weight 1 check inter 5s fall 2 rise 1'):
            self.assertIn(line, found)

    def test_https_monitor_does_not_verify(self):
        found = backend_of(health_monitor=objects.monitor('HTTPS'))
        self.assertTrue(any('check-ssl verify none' in line for line in found))

    def test_tls_hello_monitor(self):
        self.assertIn('option ssl-hello-chk',
                      backend_of(health_monitor=objects.monitor('TLS-HELLO')))

    def test_disabled_or_deleted_monitor_checks_nothing(self):
        for fields in ({'enabled': False}, {'provisioning_status': 'PENDING_DELETE'}):
            found = backend_of(health_monitor=objects.monitor(**fields))
            self.assertFalse([line for line in found if ' check ' in line])


class KubernetesApiTest(unittest.TestCase):
    """Tests with the load balancer of a Kubernetes API: TCP, HTTPS checks, timeouts of an hour."""

    def render(self, members=()):
        one = objects.pool(protocol='TCP', lb_algorithm='LEAST_CONNECTIONS', members=members,
                           health_monitor=objects.monitor(
                               'HTTPS', url_path='/readyz', delay=5, timeout=4,
                               rise_threshold=1, fall_threshold=3))
        listener = objects.listener(
            default_pool=one, protocol='TCP', protocol_port=6443,
            timeout_client_data=3600000, timeout_member_data=3600000,
            allowed_cidrs=[objects.cidr('203.0.113.0/24'), objects.cidr('10.0.0.0/24')])
        return lines(objects.balancer([listener], [one]))

    def test_clients(self):
        found = self.render()
        for line in ('bind 10.0.0.10:6443', 'mode tcp', 'timeout client 3600000',
                     'timeout server 3600000', 'balance leastconn',
                     'tcp-request connection reject unless { src 10.0.0.0/24 203.0.113.0/24 }'):
            self.assertIn(line, found)

    def test_members_are_asked_whether_they_are_ready(self):
        found = self.render([objects.member('m1', '10.0.0.11', protocol_port=6443)])
        for line in ('option httpchk', 'http-check send meth GET uri /readyz',
                     'http-check expect rstatus ^(200)$', 'timeout check 4s',
                     'server m1 10.0.0.11:6443 weight 1 check inter 5s fall 3 rise 1'
                     ' check-ssl verify none'):
            self.assertIn(line, found)


class ServerTest(unittest.TestCase):
    def line(self, check='', **fields):
        return haproxy.render_server(objects.member('m1', **fields), objects.pool(), check)

    def test_weight_zero_is_kept(self):
        self.assertIn(' weight 0', self.line(weight=0))

    def test_weight_defaults_to_one(self):
        self.assertIn(' weight 1', self.line(weight=None))

    def test_backup_and_disabled(self):
        self.assertTrue(self.line(backup=True, enabled=False).endswith(' backup disabled'))

    def test_monitor_address_and_port_need_a_check(self):
        fields = {'monitor_address': '10.9.9.9', 'monitor_port': 10256}
        self.assertNotIn('10256', self.line(**fields))
        self.assertIn(' addr 10.9.9.9 port 10256', self.line(' check', **fields))

    def test_ipv6_member(self):
        self.assertIn(' [fd00::5]:80 ', self.line(address='fd00::5'))


class ExpectedIdsTest(unittest.TestCase):
    def test_names_are_what_the_configuration_has(self):
        self.assertEqual(haproxy.list_expected_ids(objects.simple()), {'listener', 'm1', 'm2'})

    def test_every_name_is_in_the_configuration(self):
        balancer = objects.simple()
        text = haproxy.render(balancer, 's')
        for name in haproxy.list_expected_ids(balancer):
            self.assertIn(name, text)

    def test_pool_without_listener_takes_no_part(self):
        one = objects.pool(members=[objects.member('m1')])
        self.assertEqual(haproxy.list_expected_ids(objects.balancer([objects.listener()], [one])),
                         {'listener'})


class StatusPatternTest(unittest.TestCase):
    def test_patterns(self):
        for codes, pattern in (('200', '200'), ('200, 202', '200|202'), ('200-203',
                               '200|201|202|203'), (None, '200'), ('', '200')):
            self.assertEqual(haproxy.render_status_pattern(codes), pattern)
