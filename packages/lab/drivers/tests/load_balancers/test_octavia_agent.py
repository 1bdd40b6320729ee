"""Octavia's provider agent, with Octavia replaced by stubs."""
from labdriver.load_balancers.haproxy_instance import HaproxyError
from tests.load_balancers.octavia_stubs import AgentCase


class AgentTest(AgentCase):
    def test_pending_is_applied_and_reported(self):
        self.agent.look()
        self.instance.apply.assert_called_once_with({})
        self.assertEqual(self.reported(), 'ACTIVE')

    def test_active_is_applied_once_after_a_start_without_a_report(self):
        self.balancer.provisioning_status = 'ACTIVE'
        for _ in range(3):
            self.agent.look()
        self.instance.apply.assert_called_once_with({})
        self.library.update_loadbalancer_status.assert_not_called()

    def test_network_is_made_when_it_is_missing(self):
        self.instance.has_network.return_value = False
        client = self.module.create_neutron_client.return_value
        client.show_port.return_value = {'port': {'id': 'p', 'mac_address': 'm',
                                                  'network_id': 'n'}}
        client.show_subnet.return_value = {'subnet': {'cidr': '10.0.0.0/24',
                                                      'gateway_ip': '10.0.0.1'}}
        client.show_network.return_value = {'network': {'mtu': 1350}}
        self.balancer.vip.subnet_id = 's'
        self.agent.look()
        self.instance.connect.assert_called_once_with({'id': 'p', 'mac': 'm', 'mtu': 1350}, '24',
                                                      '10.0.0.1')

    def test_what_haproxy_refuses_is_an_error_at_once(self):
        self.instance.apply.side_effect = HaproxyError('no')
        self.agent.look()
        self.assertEqual(self.reported(), 'ERROR')

    def test_other_failures_are_tried_again_for_a_minute(self):
        self.instance.apply.side_effect = OSError('Neutron does not answer')
        self.agent.look()
        self.now += 59
        self.agent.look()
        self.assertFalse(self.reported())
        self.now += 2
        self.agent.look()
        self.assertEqual(self.reported(), 'ERROR')

    def test_recovery_forgets_the_failure(self):
        self.instance.apply.side_effect = OSError
        self.agent.look()
        self.instance.apply.side_effect = None
        self.agent.look()
        self.assertEqual(self.reported(), 'ACTIVE')
        self.assertEqual(self.agent.failing_since, {})

    def test_delete_releases_the_port(self):
        self.balancer.provisioning_status = 'PENDING_DELETE'
        self.agent.look()
        self.instance.remove.assert_called_once_with()
        self.client.delete_port.assert_called_once_with('f7b9d0f2-port')
        self.assertEqual(self.reported(), 'DELETED')

    def test_delete_goes_on_when_the_port_is_gone(self):
        self.balancer.provisioning_status = 'PENDING_DELETE'
        gone = type('NotFound', (Exception,), {'status_code': 404})
        self.module.create_neutron_client.return_value.delete_port.side_effect = gone
        self.agent.look()
        self.assertEqual(self.reported(), 'DELETED')

    def test_delete_waits_for_neutron(self):
        self.balancer.provisioning_status = 'PENDING_DELETE'
        self.module.create_neutron_client.return_value.delete_port.side_effect = OSError
        self.agent.look()
        self.assertFalse(self.reported())

    def test_port_of_the_user_is_given_back(self):
        self.balancer.provisioning_status = 'PENDING_DELETE'
        self.balancer.vip.octavia_owned = False
        self.agent.look()
        client = self.module.create_neutron_client.return_value
        client.delete_port.assert_not_called()
        self.assertEqual(client.update_port.call_args.args[1]['port']['device_owner'], '')

    def test_health_is_reported_at_intervals(self):
        self.balancer.provisioning_status = 'ACTIVE'
        self.agent.look()
        self.instance.is_listening.return_value = True
        self.instance.statistics.return_value = [
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
        self.instance.is_listening.return_value = True
        self.instance.statistics.return_value = []
        self.agent.look()
        self.instance.forward.assert_called_once_with([])

    def test_health_that_cannot_be_seen_is_no_error(self):
        self.balancer.provisioning_status = 'ACTIVE'
        self.agent.look()
        self.instance.is_listening.return_value = True
        self.instance.statistics.side_effect = ConnectionRefusedError
        self.now += 2 * self.module.PATIENCE
        self.agent.look()
        self.library.update_loadbalancer_status.assert_not_called()
        self.assertEqual(self.instance.apply.call_count, 1)

    def test_what_is_lost_is_made_again(self):
        self.test_health_that_cannot_be_seen_is_no_error()
        self.agent.look()
        self.assertEqual(self.instance.apply.call_count, 2)
