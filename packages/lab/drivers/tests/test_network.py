"""Network links of servers and load balancers."""
import os
import unittest

from labdriver import network
from labdriver.shell import CommandError
from tests.commands import IP, PORT, LinksTest

TAP = 'tap0123456789a'


class NamesTest(unittest.TestCase):
    def test_tap_fits_into_a_device_name(self):
        name = network.get_tap_name('0123456789abcdef-0123')
        self.assertEqual(name, 'tap0123456789a')
        self.assertLess(len(name), 16)

    def test_first_free_device(self):
        for names, free in (((), 'eth0'), (('lo', 'eth0'), 'eth1'),
                            (('lo', 'eth0', 'eth2'), 'eth1'), (('eth1',), 'eth0')):
            self.assertEqual(network.find_free_device_name(set(names)), free)


class ForwardTest(LinksTest):
    def test_rules_are_loaded_in_the_namespace_before_old_flows_end(self):
        network.apply_forwarding_rules('lb', '/rules', {('53', '10.0.0.6'), ('53', '10.0.0.5')})
        self.assertEqual(self.calls('ip'), ['ip netns exec lb ' + words for words in (
            'sysctl -q -w net.ipv4.ip_forward=1', 'nft -f /rules',
            'conntrack -D -p udp --orig-port-dst 53 --reply-src 10.0.0.5',
            'conntrack -D -p udp --orig-port-dst 53 --reply-src 10.0.0.6')])

    def test_flows_that_are_gone_already_are_no_error_but_refused_rules_are(self):
        self.stub('ip', 'case "$4" in conntrack) exit 1 ;; esac')
        network.apply_forwarding_rules('lb', '/rules', {('53', '10.0.0.5')})
        self.stub('ip', 'case "$4" in nft) echo "no such map" >&2; exit 1 ;; esac')
        with self.assertRaisesRegex(CommandError, 'no such map'):
            network.apply_forwarding_rules('lb', '/rules', set())


class TapTest(LinksTest):
    def test_the_device_of_a_virtual_machine_is_made_once_and_joins_the_bridge(self):
        self.stub('ip', IP + 'case "$1" in tuntap) touch "$ROOT/net/$4" ;; esac\n')
        for _ in range(2):
            network.plug_tap(PORT, 'brq1')
        self.assertEqual(self.calls('ip tuntap'), ['ip tuntap add dev %s mode tap' % TAP])
        self.assertEqual(self.calls('ip link set', TAP)[:3],
                         ['ip link set %s %s' % (TAP, words)
                          for words in ('mtu 1350', 'master brq1', 'up')])
        network.unplug(PORT['id'])
        self.assertEqual(len(self.calls('ip link del', TAP)), 1)


class PlugTest(LinksTest):
    def setUp(self):
        super().setUp()
        network.ensure_namespace('srv')

    def test_both_ends_have_the_mtu_and_the_server_has_the_address_of_the_port(self):
        network.plug(PORT, 'srv', 'eth0', 'brq1')
        made, = self.calls('ip link add ' + TAP)
        self.assertEqual(made.count('mtu 1350'), 2)
        self.assertIn('name eth0 address fa:16:3e:00:00:01', made)
        self.assertTrue(network.has_device('srv', 'eth0'))
        self.assertEqual(len(self.calls('ip link set %s master brq1' % TAP)), 1)

    def test_the_cloud_itself_takes_no_address_that_a_router_of_a_tenant_offers(self):
        for device in (TAP, 'brq1'):
            os.makedirs(os.path.join(self.directory, 'conf', device))
            open(os.path.join(self.directory, 'conf', device, 'disable_ipv6'), 'w').close()
        network.plug(PORT, 'srv', 'eth0', 'brq1')
        for device in (TAP, 'brq1'):
            with open(os.path.join(self.directory, 'conf', device, 'disable_ipv6')) as setting:
                self.assertEqual(setting.read(), '1', device)

    def test_again_makes_nothing_new(self):
        for _ in range(2):
            network.plug(PORT, 'srv', 'eth0', 'brq1')
        self.assertEqual(len(self.calls('ip link add')), 2, 'the tap and the bridge, once each')

    def test_a_tap_whose_other_end_is_gone_is_made_anew(self):
        network.plug(PORT, 'srv', 'eth0')
        network.remove_namespace('srv')
        network.ensure_namespace('srv')
        network.plug(PORT, 'srv', 'eth0')
        self.assertEqual(len(self.calls('ip link del ' + TAP)), 1)
        self.assertTrue(network.has_device('srv', 'eth0'))

    def test_load_balancers_leave_the_bridge_to_the_agent(self):
        network.plug(PORT, 'srv', 'eth0')
        self.assertEqual([call for call in self.calls('ip') if ' master ' in call], [])
        self.assertEqual(self.links(), [TAP])

    def test_a_link_that_cannot_be_made_is_an_error_with_its_reason(self):
        self.stub('ip', 'case "$1 $2" in "link add") echo "no veth" >&2; exit 2 ;; esac')
        with self.assertRaisesRegex(CommandError, 'no veth'):
            network.plug(PORT, 'srv', 'eth0')

    def test_unplug_may_be_repeated(self):
        network.plug(PORT, 'srv', 'eth0')
        for _ in range(2):
            network.unplug(PORT['id'])
        self.assertEqual(self.links(), [])

    def test_devices_are_named_without_their_peers(self):
        network.plug(PORT, 'srv', 'eth0')
        self.assertEqual(network.list_device_names('srv'), {'eth0'})


class BridgeTest(LinksTest):
    def test_the_agent_may_make_it_at_the_same_moment(self):
        self.stub('ip', 'case "$1 $2" in "link add") touch "$ROOT/net/$3"; exit 2 ;; esac')
        network.ensure_bridge('brq1')
        self.assertEqual(self.links(), ['brq1'])

    def test_that_cannot_be_made_is_an_error(self):
        self.stub('ip', 'case "$1 $2" in "link add") exit 2 ;; esac')
        with self.assertRaisesRegex(RuntimeError, 'bridge brq1 cannot be made'):
            network.ensure_bridge('brq1')

    def test_that_exists_is_only_set_up(self):
        network.ensure_bridge('brq1')
        self.forget()
        network.ensure_bridge('brq1')
        self.assertEqual(self.calls('ip'), ['ip link set brq1 up'])
