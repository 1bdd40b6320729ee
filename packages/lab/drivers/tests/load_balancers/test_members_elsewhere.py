"""A load balancer whose members are in another subnet than its address."""
from tests.load_balancers.octavia_stubs import AgentCase


class MembersElsewhereTest(AgentCase):
    def setUp(self):
        super().setUp()
        for member in self.balancer.pools[0].members:
            member.subnet_id = 'machines'
        self.instance.has_port.return_value = False
        self.client.show_subnet.return_value = {'subnet': {
            'network_id': 'n', 'cidr': '10.0.0.0/24', 'gateway_ip': '10.0.0.1'}}
        self.client.show_network.return_value = {'network': {'mtu': 1350}}
        self.port = {'id': 'p', 'mac_address': 'm', 'network_id': 'n',
                     'fixed_ips': [{'subnet_id': 'machines', 'ip_address': '10.0.0.77'}]}
        self.client.create_port.return_value = {'port': self.port}

    def test_get_one_port_in_their_subnet_before_haproxy_asks_them(self):
        self.instance.apply.side_effect = lambda _: self.instance.join.assert_called_once_with(
            {'id': 'p', 'mac': 'm', 'mtu': 1350}, '10.0.0.77', '24')
        self.agent.look()
        self.assertEqual(self.reported(), 'ACTIVE')
        self.client.create_port.assert_called_once()
        sent = self.client.create_port.call_args.args[0]['port']
        self.assertEqual(sent['fixed_ips'], [{'subnet_id': 'machines'}])
        self.assertEqual(sent['device_id'], 'lb-balancer')
        self.assertIs(sent['port_security_enabled'], False)
        self.assertNotIn('project_id', sent, 'the tenant neither sees it nor pays for it')

    def test_stand_there_with_the_address_of_their_subnet_beside_one_of_ipv6(self):
        self.port['fixed_ips'].insert(0, {'subnet_id': 'six', 'ip_address': 'fd00:10::77'})
        self.agent.look()
        self.assertEqual(self.instance.join.call_args.args[1], '10.0.0.77')

    def test_keep_the_port_that_is_known_to_neutron_after_a_start(self):
        own = {'id': 'f7b9d0f2-port', 'fixed_ips': [{'subnet_id': 'vip-subnet'}]}
        self.client.list_ports.return_value = {'ports': [own, self.port]}
        self.agent.look()
        self.client.list_ports.assert_called_once_with(device_id='lb-balancer',
                                                       device_owner='Octavia')
        self.client.create_port.assert_not_called()
        self.instance.join.assert_called_once()

    def test_leave_a_port_alone_that_is_plugged(self):
        self.client.list_ports.return_value = {'ports': [self.port]}
        self.instance.has_port.return_value = True
        self.agent.look()
        self.instance.join.assert_not_called()
        self.instance.apply.assert_called_once_with({})

    def test_cost_those_in_the_subnet_of_the_address_nothing(self):
        for member in self.balancer.pools[0].members:
            member.subnet_id = 'vip-subnet'
        self.agent.look()
        self.client.list_ports.assert_not_called()
        self.instance.join.assert_not_called()

    def test_are_waited_for_when_neutron_does_not_answer(self):
        self.client.create_port.side_effect = OSError
        self.agent.look()
        self.assertFalse(self.reported())
        self.instance.apply.assert_not_called()

    def test_give_the_port_back_with_the_load_balancer_once_or_again(self):
        self.balancer.provisioning_status = 'PENDING_DELETE'
        self.client.list_ports.return_value = {'ports': [self.port]}
        gone = type('NotFound', (Exception,), {'status_code': 404})
        self.client.delete_port.side_effect = gone
        self.agent.look()
        self.assertEqual([call.args for call in self.client.delete_port.call_args_list],
                         [('p',), ('f7b9d0f2-port',)])
        self.assertEqual(self.reported(), 'DELETED')
