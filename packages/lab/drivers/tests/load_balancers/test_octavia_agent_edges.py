"""The provider agent with partial failures, repeated calls and missing reports."""
from unittest import mock

from labdriver.load_balancers.haproxy_instance import HaproxyError
from labdriver.shell import CommandError
from tests.load_balancers import objects
from tests.load_balancers.octavia_stubs import AgentCase, Session


class FailingAgentTest(AgentCase):
    def stubborn(self, error=OSError('Neutron does not answer')):
        """Make every attempt of the agent fail until its time limit (PATIENCE) has passed."""
        self.instance.apply.side_effect = error
        self.agent.look()
        self.now += self.module.PATIENCE + 1
        self.agent.look()

    def test_what_worked_before_is_no_error_because_a_look_fails(self):
        self.balancer.provisioning_status = 'ACTIVE'
        self.stubborn()
        self.library.update_loadbalancer_status.assert_not_called()

    def test_a_refusal_of_what_is_active_already_is_no_error_either(self):
        self.balancer.provisioning_status = 'ACTIVE'
        self.stubborn(HaproxyError('no'))
        self.library.update_loadbalancer_status.assert_not_called()

    def test_after_an_error_the_minute_begins_anew(self):
        self.stubborn()
        self.library.reset_mock()
        self.balancer.provisioning_status = 'PENDING_UPDATE'
        self.agent.look()
        self.assertFalse(self.reported(), 'the failure before the change does not count')

    def test_the_reason_is_logged_once_not_three_times_a_second(self):
        log = self.module.LOG
        log.reset_mock()
        self.instance.apply.side_effect = OSError
        for _ in range(5):
            self.agent.look()
        self.assertEqual(log.exception.call_count, 1)

    def test_a_delete_that_failed_half_way_begins_again_from_the_start(self):
        self.balancer.provisioning_status = 'PENDING_DELETE'
        client = self.module.create_neutron_client.return_value
        client.delete_port.side_effect = OSError
        self.agent.look()
        client.delete_port.side_effect = None
        self.agent.look()
        self.assertEqual(self.instance.remove.call_count, 2)
        self.assertEqual(self.reported(), 'DELETED')

    def test_a_delete_that_never_works_ends_as_an_error(self):
        self.balancer.provisioning_status = 'PENDING_DELETE'
        self.instance.remove.side_effect = CommandError(['ip'], 1, 'busy')
        self.agent.look()
        self.now += self.module.PATIENCE + 1
        self.agent.look()
        self.assertEqual(self.reported(), 'ERROR')

    def test_a_report_that_octavia_does_not_take_is_repeated(self):
        self.library.update_loadbalancer_status.side_effect = OSError('the socket is gone')
        self.agent.look()
        self.library.update_loadbalancer_status.side_effect = None
        self.agent.look()
        self.assertEqual(self.library.update_loadbalancer_status.call_count, 2)
        self.assertEqual(self.instance.apply.call_count, 2)

    def test_the_session_is_closed_also_when_the_database_is_gone(self):
        session = mock.Mock(wraps=Session(self.balancer))
        session.query.side_effect = OSError('the database is gone')
        session.begin = Session(self.balancer).begin
        self.module.database.get_session.return_value = session
        with self.assertRaises(OSError):
            self.agent.look()
        session.close.assert_called_once_with()


class StatisticsTest(AgentCase):
    def setUp(self):
        super().setUp()
        self.balancer.provisioning_status = 'ACTIVE'
        self.agent.look()
        self.instance.is_listening.return_value = True
        self.row = {'pxname': 'listener', 'svname': 'FRONTEND', 'status': 'OPEN', 'weight': '',
                    'scur': '1', 'bin': '10', 'bout': '20', 'ereq': '0', 'stot': '3'}
        self.instance.statistics.side_effect = lambda: [dict(self.row)]

    def look(self):
        self.now += self.module.HEALTH_INTERVAL
        self.agent.look()

    def test_are_reported_only_when_they_changed(self):
        for _ in range(3):
            self.look()
        self.assertEqual(self.library.update_listener_statistics.call_count, 1)
        self.row['stot'] = '4'
        self.look()
        listener, = self.library.update_listener_statistics.call_args.args[0]['listeners']
        self.assertEqual((listener['id'], listener['total_connections']), ('listener', 4))

    def test_of_a_deleted_load_balancer_are_forgotten(self):
        self.look()
        self.balancer.provisioning_status = 'PENDING_DELETE'
        self.look()
        self.assertEqual(self.agent.last_statistics, {})
        self.assertEqual(self.agent.applied, set())

    def test_are_not_asked_for_between_two_intervals(self):
        self.look()
        asked = self.instance.statistics.call_count
        for _ in range(4):
            self.agent.look()
        self.assertEqual(self.instance.statistics.call_count, asked)

    def test_a_load_balancer_without_listener_is_not_asked(self):
        self.instance.is_listening.return_value = False
        self.look()
        self.instance.statistics.assert_not_called()


class AgentLifeTest(AgentCase):
    def test_it_looks_until_octavia_ends(self):
        self.module.Agent = mock.Mock()
        ended = mock.Mock(wait=mock.Mock(side_effect=[False, False, True]))
        self.module.main(ended)
        self.assertEqual(self.module.Agent.return_value.look.call_count, 2)

    def test_a_port_that_another_network_driver_broke_is_not_taken_for_gone(self):
        self.balancer.provisioning_status = 'PENDING_DELETE'
        forbidden = type('Forbidden', (Exception,), {'status_code': 403})
        self.module.create_neutron_client.return_value.delete_port.side_effect = forbidden
        self.agent.look()
        self.assertFalse(self.reported())

    def test_a_port_of_the_user_that_is_gone_does_not_stop_the_delete(self):
        self.balancer.provisioning_status = 'PENDING_DELETE'
        self.balancer.vip.octavia_owned = False
        gone = type('NotFound', (Exception,), {'status_code': 404})
        self.module.create_neutron_client.return_value.update_port.side_effect = gone
        self.agent.look()
        self.assertEqual(self.reported(), 'DELETED')


class SharedPoolTest(AgentCase):
    def test_members_of_a_pool_that_no_listener_uses_are_settled_too(self):
        unused = objects.pool('unused', [objects.member('m9')])
        for thing in (unused, unused.members[0]):
            thing.provisioning_status = 'PENDING_CREATE'
        self.balancer.pools.append(unused)
        self.agent.look()
        report = self.library.update_loadbalancer_status.call_args.args[0]
        self.assertEqual([entry['id'] for entry in report['pools']], ['unused'])
        self.assertEqual([entry['id'] for entry in report['members']], ['m9'])
