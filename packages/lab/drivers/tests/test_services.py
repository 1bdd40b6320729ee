"""The parts that OpenStack's services load, with stubs instead of the services."""
import contextlib
import importlib
import unittest
from types import SimpleNamespace
from unittest import mock

from labdriver.front import FrontError
from tests import objects
from tests.support import stub_modules


class Refused(Exception):
    """Replacement for octavia_lib's UnsupportedOptionError."""

    def __init__(self, user_fault_string=None, operator_fault_string=None):
        super().__init__(user_fault_string)


def octavia_stubs():
    """Return stubs of the names that the lab's parts import from Octavia, octavia-lib and oslo."""
    configuration = SimpleNamespace(register_opts=mock.Mock(),
                                    lab=SimpleNamespace(network_host='labcloud'),
                                    neutron=SimpleNamespace(region_name='lab'),
                                    certificates=SimpleNamespace(
                                        cert_manager='barbican_cert_manager',
                                        region_name='lab', endpoint_type='publicURL'))
    return {
        'barbicanclient': {'client': mock.Mock()},
        'keystoneauth1': {'session': mock.Mock(), 'token_endpoint': mock.Mock()},
        'stevedore': {'driver': mock.Mock()},
        'octavia.certificates.common.auth': {
            'barbican_acl': SimpleNamespace(BarbicanACLAuth=object)},
        'octavia.common': {'clients': mock.Mock(), 'keystone': mock.Mock()},
        'octavia.common.tls_utils': {'cert_parser': mock.Mock()},
        'octavia.db': {'api': mock.Mock(), 'models': mock.Mock()},
        'octavia_lib.api.drivers': {
            'exceptions': SimpleNamespace(UnsupportedOptionError=Refused),
            'provider_base': SimpleNamespace(ProviderDriver=object),
            'driver_lib': mock.Mock()},
        'oslo_config': {'cfg': SimpleNamespace(CONF=configuration, StrOpt=mock.Mock())},
        'oslo_log': {'log': mock.Mock()},
    }


class ProviderTest(unittest.TestCase):
    def setUp(self):
        stub_modules(self, octavia_stubs())
        self.octavia = importlib.import_module('labdriver.octavia')
        self.client = mock.Mock()
        self.octavia.neutron = lambda: self.client
        self.provider = self.octavia.LabProviderDriver()

    def port(self, method):
        """Make the client answer. Return the requests that it received."""
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


class Session:
    """Replacement for a database session that has one load balancer."""

    def __init__(self, balancer):
        self.balancer = balancer

    def begin(self):
        return contextlib.nullcontext()

    def query(self, *_what):
        return self

    def filter(self, *_conditions):
        return self

    def all(self):
        return [(self.balancer.id, self.balancer.provisioning_status)]

    def get(self, _id):
        return self.balancer

    def expire_all(self):
        pass

    close = expire_all


class AgentCase(unittest.TestCase):
    """An agent whose database has one load balancer."""

    def setUp(self):
        stubs = octavia_stubs()
        stub_modules(self, stubs)
        self.module = importlib.import_module('labdriver.octavia_agent')
        self.module.neutron = mock.Mock()
        self.client = self.module.neutron.return_value
        self.client.list_ports.return_value = {'ports': []}
        self.balancer = objects.simple(provisioning_status='PENDING_CREATE')
        stubs['octavia.db']['api'].get_session.return_value = Session(self.balancer)
        self.front = mock.Mock()
        self.front.balancer = self.balancer
        self.front.has_network.return_value = True
        self.front.is_listening.return_value = False
        self.module.Front = mock.Mock(return_value=self.front)
        self.library = mock.Mock()
        self.now = 100
        self.agent = self.module.Agent(self.library, lambda: self.now)

    def reported(self):
        """Return the load balancer's provisioning status in the last report, if there was one."""
        calls = self.library.update_loadbalancer_status.call_args_list
        return calls and calls[-1].args[0]['loadbalancers'][0]['provisioning_status']


class AgentTest(AgentCase):
    def test_pending_is_applied_and_reported(self):
        self.agent.look()
        self.front.apply.assert_called_once_with({})
        self.assertEqual(self.reported(), 'ACTIVE')

    def test_active_is_applied_once_after_a_start_without_a_report(self):
        self.balancer.provisioning_status = 'ACTIVE'
        for _ in range(3):
            self.agent.look()
        self.front.apply.assert_called_once_with({})
        self.library.update_loadbalancer_status.assert_not_called()

    def test_network_is_made_when_it_is_missing(self):
        self.front.has_network.return_value = False
        client = self.module.neutron.return_value
        client.show_port.return_value = {'port': {'id': 'p', 'mac_address': 'm',
                                                  'network_id': 'n'}}
        client.show_subnet.return_value = {'subnet': {'cidr': '10.0.0.0/24',
                                                      'gateway_ip': '10.0.0.1'}}
        client.show_network.return_value = {'network': {'mtu': 1350}}
        self.balancer.vip.subnet_id = 's'
        self.agent.look()
        self.front.connect.assert_called_once_with({'id': 'p', 'mac': 'm', 'mtu': 1350}, '24',
                                                   '10.0.0.1')

    def test_what_haproxy_refuses_is_an_error_at_once(self):
        self.front.apply.side_effect = FrontError('no')
        self.agent.look()
        self.assertEqual(self.reported(), 'ERROR')

    def test_other_failures_are_tried_again_for_a_minute(self):
        self.front.apply.side_effect = OSError('Neutron does not answer')
        self.agent.look()
        self.now += 59
        self.agent.look()
        self.assertFalse(self.reported())
        self.now += 2
        self.agent.look()
        self.assertEqual(self.reported(), 'ERROR')

    def test_recovery_forgets_the_failure(self):
        self.front.apply.side_effect = OSError
        self.agent.look()
        self.front.apply.side_effect = None
        self.agent.look()
        self.assertEqual(self.reported(), 'ACTIVE')
        self.assertEqual(self.agent.failing_since, {})

    def test_delete_releases_the_port(self):
        self.balancer.provisioning_status = 'PENDING_DELETE'
        self.agent.look()
        self.front.remove.assert_called_once_with()
        self.module.neutron.return_value.delete_port.assert_called_once_with('f7b9d0f2-port')
        self.assertEqual(self.reported(), 'DELETED')

    def test_delete_goes_on_when_the_port_is_gone(self):
        self.balancer.provisioning_status = 'PENDING_DELETE'
        gone = type('NotFound', (Exception,), {'status_code': 404})
        self.module.neutron.return_value.delete_port.side_effect = gone
        self.agent.look()
        self.assertEqual(self.reported(), 'DELETED')

    def test_delete_waits_for_neutron(self):
        self.balancer.provisioning_status = 'PENDING_DELETE'
        self.module.neutron.return_value.delete_port.side_effect = OSError
        self.agent.look()
        self.assertFalse(self.reported())

    def test_port_of_the_user_is_given_back(self):
        self.balancer.provisioning_status = 'PENDING_DELETE'
        self.balancer.vip.octavia_owned = False
        self.agent.look()
        client = self.module.neutron.return_value
        client.delete_port.assert_not_called()
        self.assertEqual(client.update_port.call_args.args[1]['port']['device_owner'], '')

    def test_health_is_reported_at_intervals(self):
        self.balancer.provisioning_status = 'ACTIVE'
        self.agent.look()
        self.front.is_listening.return_value = True
        self.front.statistics.return_value = [
            {'pxname': 'pool', 'svname': 'm1', 'status': 'DOWN', 'weight': '1'}]
        self.agent.look()
        self.library.update_loadbalancer_status.assert_not_called()
        self.now += self.module.HEALTH_INTERVAL
        self.agent.look()
        report = self.library.update_loadbalancer_status.call_args.args[0]
        self.assertEqual(report['members'], [{'id': 'm1', 'operating_status': 'ERROR'}])

    def test_what_is_seen_of_health_decides_where_udp_goes(self):
        self.balancer.provisioning_status = 'ACTIVE'
        self.agent.look()
        self.now += 2
        self.front.is_listening.return_value = True
        self.front.statistics.return_value = []
        self.agent.look()
        self.front.forward.assert_called_once_with([])

    def test_health_that_cannot_be_seen_is_no_error(self):
        self.balancer.provisioning_status = 'ACTIVE'
        self.agent.look()
        self.front.is_listening.return_value = True
        self.front.statistics.side_effect = ConnectionRefusedError
        self.now += 2 * self.module.PATIENCE
        self.agent.look()
        self.library.update_loadbalancer_status.assert_not_called()
        self.assertEqual(self.front.apply.call_count, 1)

    def test_what_is_lost_is_made_again(self):
        self.test_health_that_cannot_be_seen_is_no_error()
        self.agent.look()
        self.assertEqual(self.front.apply.call_count, 2)
