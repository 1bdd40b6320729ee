"""UDP load balancers: the kernel's rules, and the check of a member's health."""
import os
import socket
import subprocess
import unittest
from types import SimpleNamespace
from unittest import mock

from labdriver.load_balancers import haproxy, haproxy_instance, udp_rules
from tests.load_balancers import objects
from tests.support import DirectoryTest


def row(name, status):
    """Return a row of haproxy's statistics."""
    return {'pxname': 'pool', 'svname': name, 'status': status}


class RulesTest(unittest.TestCase):
    def setUp(self):
        self.balancer = objects.udp()
        self.listener = self.balancer.listeners[0]
        self.pool = self.balancer.pools[0]

    def rules(self, *rows):
        """Return the rules of listeners, one rule per line."""
        text = udp_rules.render(self.balancer, rows)
        return [line.strip() for line in text.splitlines() if 'dnat to' in line]

    def test_members_take_turns_by_their_weights(self):
        self.pool.members[0].weight = 3
        self.assertEqual(self.rules(), [
            'ip daddr 10.0.0.10 udp dport 53 dnat to numgen inc mod 4'
            ' map { 0-2 : 10.0.0.5 . 80, 3-3 : 10.0.0.6 . 80 }'])

    def test_a_client_stays_with_its_member_where_that_is_asked_for(self):
        for fields in ({'lb_algorithm': 'SOURCE_IP'},
                       {'session_persistence': SimpleNamespace(type='SOURCE_IP')}):
            self.balancer = objects.udp(**fields)
            self.assertIn('dnat to jhash ip saddr mod 2 seed 1 map', self.rules()[0])

    def test_every_algorithm_is_known(self):
        for algorithm in haproxy.BALANCE:
            self.pool.lb_algorithm = algorithm
            self.assertEqual(len(self.rules()), 1)

    def test_members_that_are_unwell_or_leave_get_nothing_new(self):
        for status in ('DOWN', 'MAINT', 'DRAIN'):
            self.assertIn('mod 1 map { 0-0 : 10.0.0.6 . 80 }', self.rules(row('m1', status))[0])
        for fields in ({'enabled': False}, {'weight': 0},
                       {'provisioning_status': 'PENDING_DELETE'}):
            self.balancer = objects.udp()
            vars(self.balancer.pools[0].members[0]).update(fields)
            self.assertIn('mod 1 map { 0-0 : 10.0.0.6 . 80 }', self.rules()[0])

    def test_members_kept_back_are_used_when_there_is_no_other(self):
        self.pool.members[1].backup = True
        self.assertNotIn('10.0.0.6', self.rules()[0])
        self.assertIn('mod 1 map { 0-0 : 10.0.0.6 . 80 }', self.rules(row('m1', 'DOWN'))[0])

    def test_without_a_member_everybody_is_refused(self):
        text = udp_rules.render(self.balancer, [row('m1', 'DOWN'), row('m2', 'DOWN')])
        self.assertNotIn('dnat to', text)
        self.assertIn('ct direction original reject', text)
        self.listener.default_pool = None
        self.assertEqual(udp_rules.render(self.balancer, []), text)

    def test_allowed_cidrs(self):
        self.listener.allowed_cidrs = [objects.cidr('192.0.2.0/24'), objects.cidr('10.0.0.0/8')]
        self.assertIn('udp dport 53 ip saddr { 10.0.0.0/8, 192.0.2.0/24 } dnat', self.rules()[0])

    def test_nothing_else_is_let_through(self):
        text = udp_rules.render(self.balancer, [])
        self.assertIn('filter hook forward priority filter; policy drop\n    ct status dnat accept',
                      text)

    def test_load_balancers_without_udp_have_no_rules(self):
        self.assertEqual(udp_rules.render(objects.simple(), []), '')
        self.listener.enabled = False
        self.assertEqual(udp_rules.render(self.balancer, []), '')

    def test_targets_are_what_flows_go_to(self):
        text = udp_rules.render(self.balancer, [])
        self.assertEqual(udp_rules.parse_allowed_flows(text),
                         {('53', '10.0.0.5', ''), ('53', '10.0.0.6', '')})
        self.assertEqual(udp_rules.parse_allowed_flows(''), set())


class CheckOnlyBackendTest(unittest.TestCase):
    """The haproxy configuration for UDP, which only checks the health of members."""

    def setUp(self):
        self.balancer = objects.udp()
        self.pool = self.balancer.pools[0]

    def lines(self):
        """Return the configuration, line by line, without indentation."""
        return [line.strip() for line in haproxy.render(self.balancer, 's').splitlines()]

    def test_nothing_is_listened_to(self):
        found = self.lines()
        self.assertFalse([line for line in found if line.startswith(('frontend', 'bind'))])
        self.assertEqual(haproxy.list_expected_ids(self.balancer), {'m1', 'm2'})

    def test_members_are_asked_by_a_program_of_our_own(self):
        found = self.lines()
        for line in ('external-check', 'insecure-fork-wanted', 'option external-check',
                     'external-check command ' + haproxy.UDP_CHECK, 'timeout check 3s',
                     'server m1 10.0.0.5:80 weight 1 check inter 5s fall 2 rise 1'):
            self.assertIn(line, found)
        self.assertTrue(os.access(haproxy.UDP_CHECK, os.X_OK))

    def test_members_are_asked_where_the_monitor_has_them(self):
        first, second = self.pool.members
        first.monitor_address, first.monitor_port = '10.0.9.9', 10256
        second.enabled = False
        found = self.lines()
        self.assertIn('server m1 10.0.9.9:10256 weight 1 check inter 5s fall 2 rise 1', found)
        self.assertIn('server m2 10.0.0.6:80 weight 1 check inter 5s fall 2 rise 1 disabled',
                      found)

    def test_an_http_monitor_forks_nothing(self):
        self.pool.health_monitor = objects.monitor()
        found = self.lines()
        self.assertIn('option httpchk', found)
        self.assertNotIn('external-check', found)

    def test_without_monitor_members_are_known_all_the_same(self):
        self.pool.health_monitor = None
        self.assertIn('server m1 10.0.0.5:80 weight 1', self.lines())

    def test_without_pool_there_is_nothing_to_do(self):
        self.balancer.listeners[0].default_pool = None
        self.assertEqual(haproxy.render(self.balancer, 's'), '')

    def test_one_port_number_may_be_of_tcp_too(self):
        self.balancer.listeners.append(objects.listener('t', protocol='TCP', protocol_port=53))
        found = self.lines()
        self.assertEqual(found.count('bind 10.0.0.10:53'), 1)
        self.assertEqual(haproxy.list_expected_ids(self.balancer), {'t', 'm1', 'm2'})


class ForwardTest(DirectoryTest):
    def setUp(self):
        super().setUp()
        self.instance = haproxy_instance.HaproxyInstance(self.directory, objects.udp())
        os.makedirs(self.instance.directory)
        patch = mock.patch('labdriver.load_balancers.haproxy_instance.network')
        self.network = patch.start()
        self.addCleanup(patch.stop)
        self.asked = []
        self.network.apply_forwarding_rules.side_effect = (
            lambda _name, rules, gone: self.asked.append(
                (haproxy_instance.read_if_exists(rules), gone)))

    def test_rules_are_loaded_once(self):
        for _ in range(2):
            self.instance.forward([])
        self.assertEqual(self.asked, [(udp_rules.render(self.instance.balancer, []), set())])

    def test_flows_to_a_member_that_fails_end(self):
        self.instance.forward([])
        self.instance.forward([row('m1', 'DOWN')])
        self.assertEqual(self.asked[1][1], {('53', '10.0.0.5')})
        self.instance.forward([])
        self.assertEqual(self.asked[2][1], set())

    def test_flows_of_clients_that_are_allowed_no_more_end(self):
        self.instance.forward([])
        self.instance.balancer.listeners[0].allowed_cidrs = [objects.cidr('192.0.2.0/24')]
        self.instance.forward([row('m1', 'DOWN')])
        self.assertEqual(self.asked[1][1], {('53', '10.0.0.5'), ('53', '10.0.0.6')})

    def test_rules_go_with_the_last_listener(self):
        self.instance.forward([])
        self.instance.balancer.listeners.clear()
        for _ in range(2):
            self.instance.forward([])
        self.assertEqual(self.asked[1:], [
            (udp_rules.NOTHING, {('53', '10.0.0.5'), ('53', '10.0.0.6')})])
        self.assertEqual(os.listdir(self.instance.directory), [])

    def test_what_the_kernel_refused_is_tried_again(self):
        self.network.apply_forwarding_rules.side_effect = OSError
        with self.assertRaises(OSError):
            self.instance.forward([])
        self.assertEqual(haproxy_instance.read_if_exists(self.instance.rules), '')

    def test_a_new_namespace_gets_its_rules(self):
        self.instance.forward([])
        with mock.patch('labdriver.load_balancers.haproxy_instance.run'):
            self.instance.connect({'id': 'p'}, '24', None)
        self.instance.forward([])
        self.assertEqual(len(self.asked), 2)

    def test_applying_begins_with_what_haproxy_says_of_health(self):
        rows = [row('m1', 'UP'), row('m2', 'DOWN')]
        module = 'labdriver.load_balancers.haproxy_instance.'
        with mock.patch(module + 'run'), \
                mock.patch(module + 'succeeds', return_value=False), \
                mock.patch(module + 'HaproxyInstance.statistics', return_value=rows):
            self.instance.apply()
        self.assertIn('mod 1 map { 0-0 : 10.0.0.5 . 80 }', self.asked[0][0])


class HealthTest(unittest.TestCase):
    def setUp(self):
        self.member = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.addCleanup(self.member.close)
        self.member.bind(('127.0.0.1', 0))
        self.port = self.member.getsockname()[1]

    def status(self):
        """Run the check program with haproxy's arguments. Return its exit status."""
        words = [haproxy.UDP_CHECK, 'NOT_USED', 'NOT_USED', '127.0.0.1', str(self.port)]
        return subprocess.run(words, check=False, timeout=10).returncode

    def test_a_member_that_says_nothing_is_well(self):
        self.assertEqual(self.status(), 0)
        self.assertEqual(self.member.recv(10), b'')

    def test_a_port_where_nobody_is_is_not(self):
        self.member.close()
        self.assertEqual(self.status(), 1)
