"""Octavia's provider driver, with Octavia replaced by stubs."""
import importlib
import unittest
from types import SimpleNamespace
from unittest import mock

from tests.load_balancers.octavia_stubs import Refused, octavia_stubs
from tests.support import stub_modules


class ProviderTest(unittest.TestCase):
    def setUp(self):
        stub_modules(self, octavia_stubs())
        self.octavia = importlib.import_module('labdriver.load_balancers.octavia')
        self.client = mock.Mock()
        self.octavia.create_neutron_client = lambda: self.client
        self.provider = self.octavia.LabProviderDriver()

    def port(self, method):
        """Make a method of the Neutron client return a port. Return a function that gets the
        request."""
        getattr(self.client, method).return_value = {'port': {
            'id': 'p', 'network_id': 'n', 'fixed_ips': [
                {'ip_address': '10.0.0.9', 'subnet_id': 's'}]}}
        return lambda: getattr(self.client, method).call_args.args[-1]['port']

    def test_port_is_made_bound_and_open(self):
        sent = self.port('create_port')
        vip, more = self.provider.create_vip_port(
            'lb1', 'project', {'vip_network_id': 'n', 'vip_subnet_id': 's',
                               'vip_address': '10.0.0.9'}, [])
        self.assertEqual(vip, {'vip_port_id': 'p', 'vip_network_id': 'n', 'octavia_owned': True,
                               'vip_address': '10.0.0.9', 'vip_subnet_id': 's'})
        self.assertEqual(more, [])
        self.assertEqual(sent()['binding:host_id'], 'labcloud')
        self.assertEqual(sent()['fixed_ips'], [{'subnet_id': 's', 'ip_address': '10.0.0.9'}])
        self.assertIs(sent()['port_security_enabled'], False)
        self.assertEqual(sent()['project_id'], 'project')

    def test_address_is_that_of_the_subnet_whatever_else_neutron_gives_the_port(self):
        self.client.create_port.return_value = {'port': {
            'id': 'p', 'network_id': 'n', 'fixed_ips': [
                {'ip_address': 'fd00:10::9', 'subnet_id': 'six'},
                {'ip_address': '10.0.0.9', 'subnet_id': 's'}]}}
        vip, _ = self.provider.create_vip_port(
            'lb1', 'project', {'vip_network_id': 'n', 'vip_subnet_id': 's'}, [])
        self.assertEqual((vip['vip_address'], vip['vip_subnet_id']), ('10.0.0.9', 's'))

    def test_address_is_chosen_by_neutron_when_none_is_asked_for(self):
        sent = self.port('create_port')
        self.provider.create_vip_port('lb1', 'project', {'vip_network_id': 'n'}, [])
        self.assertNotIn('fixed_ips', sent())

    def test_port_of_the_user_stays_the_users(self):
        sent = self.port('update_port')
        vip, _ = self.provider.create_vip_port('lb1', 'project', {'vip_port_id': 'p'}, [])
        self.assertIs(vip['octavia_owned'], False)
        self.assertNotIn('name', sent())
        self.client.create_port.assert_not_called()

    def test_additional_addresses_are_refused(self):
        with self.assertRaises(Refused):
            self.provider.create_vip_port('lb1', 'project', {'vip_network_id': 'n'}, [{}])

    def test_protocols(self):
        def listener(protocol, authentication='NONE'):
            return SimpleNamespace(protocol=protocol, client_authentication=authentication)
        for protocol in ('HTTP', 'TCP', 'HTTPS', 'UDP', 'TERMINATED_HTTPS'):
            self.provider.listener_create(listener(protocol))
        with self.assertRaisesRegex(Refused, 'SCTP'):
            self.provider.listener_create(listener('SCTP'))
        unset = object()
        self.provider.listener_update(None, listener(unset, unset))
        with self.assertRaisesRegex(Refused, 'MANDATORY'):
            self.provider.listener_update(None, listener(unset, 'MANDATORY'))

    def test_parts_of_a_whole_load_balancer_are_looked_at(self):
        unset = object()
        pool = SimpleNamespace(protocol='TCP', healthmonitor=SimpleNamespace(type='PING'))
        whole = SimpleNamespace(listeners=unset, pools=[pool])
        with self.assertRaisesRegex(Refused, 'PING'):
            self.provider.loadbalancer_create(whole)
        pool.healthmonitor = unset
        self.provider.loadbalancer_create(whole)

    def test_flavors_and_zones_without_capabilities_are_valid(self):
        self.assertEqual(self.provider.get_supported_flavor_metadata(), {})
        self.assertEqual(self.provider.get_supported_availability_zone_metadata(), {})
        self.provider.validate_flavor({})
        self.provider.validate_availability_zone({})
        with self.assertRaisesRegex(Refused, 'compute_flavor'):
            self.provider.validate_flavor({'compute_flavor': 'x'})
