"""Load balancers and volumes with failures half-way, repeated calls and missing reports."""
import os
from types import SimpleNamespace
from unittest import mock

from labdriver.front import FrontError
from labdriver.shell import CommandError
from tests import objects
from tests.test_cloud_services import CinderCase
from tests.test_services import AgentCase, Session


class FailingAgentTest(AgentCase):
    def stubborn(self, error=OSError('Neutron does not answer')):
        """Let every attempt fail until a minute has passed."""
        self.front.apply.side_effect = error
        self.agent.look()
        self.now += self.module.PATIENCE + 1
        self.agent.look()

    def test_what_worked_before_is_no_error_because_a_look_fails(self):
        self.balancer.provisioning_status = 'ACTIVE'
        self.stubborn()
        self.library.update_loadbalancer_status.assert_not_called()

    def test_a_refusal_of_what_is_active_already_is_no_error_either(self):
        self.balancer.provisioning_status = 'ACTIVE'
        self.stubborn(FrontError('no'))
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
        self.front.apply.side_effect = OSError
        for _ in range(5):
            self.agent.look()
        self.assertEqual(log.exception.call_count, 1)

    def test_a_delete_that_failed_half_way_begins_again_from_the_start(self):
        self.balancer.provisioning_status = 'PENDING_DELETE'
        client = self.module.neutron.return_value
        client.delete_port.side_effect = OSError
        self.agent.look()
        client.delete_port.side_effect = None
        self.agent.look()
        self.assertEqual(self.front.remove.call_count, 2)
        self.assertEqual(self.reported(), 'DELETED')

    def test_a_delete_that_never_works_ends_as_an_error(self):
        self.balancer.provisioning_status = 'PENDING_DELETE'
        self.front.remove.side_effect = CommandError(['ip'], 1, 'busy')
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
        self.assertEqual(self.front.apply.call_count, 2)

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
        self.front.is_listening.return_value = True
        self.row = {'pxname': 'listener', 'svname': 'FRONTEND', 'status': 'OPEN', 'weight': '',
                    'scur': '1', 'bin': '10', 'bout': '20', 'ereq': '0', 'stot': '3'}
        self.front.statistics.side_effect = lambda: [dict(self.row)]

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
        asked = self.front.statistics.call_count
        for _ in range(4):
            self.agent.look()
        self.assertEqual(self.front.statistics.call_count, asked)

    def test_a_load_balancer_without_listener_is_not_asked(self):
        self.front.is_listening.return_value = False
        self.look()
        self.front.statistics.assert_not_called()


class AgentLifeTest(AgentCase):
    def test_it_looks_until_octavia_ends(self):
        self.module.Agent = mock.Mock()
        ended = mock.Mock(wait=mock.Mock(side_effect=[False, False, True]))
        self.module.main(ended)
        self.assertEqual(self.module.Agent.return_value.look.call_count, 2)

    def test_a_port_that_another_network_driver_broke_is_not_taken_for_gone(self):
        self.balancer.provisioning_status = 'PENDING_DELETE'
        forbidden = type('Forbidden', (Exception,), {'status_code': 403})
        self.module.neutron.return_value.delete_port.side_effect = forbidden
        self.agent.look()
        self.assertFalse(self.reported())

    def test_a_port_of_the_user_that_is_gone_does_not_stop_the_delete(self):
        self.balancer.provisioning_status = 'PENDING_DELETE'
        self.balancer.vip.octavia_owned = False
        gone = type('NotFound', (Exception,), {'status_code': 404})
        self.module.neutron.return_value.update_port.side_effect = gone
        self.agent.look()
        self.assertEqual(self.reported(), 'DELETED')


class HalfDoneVolumeTest(CinderCase):
    def test_a_snapshot_of_a_volume_that_is_gone_leaves_no_file(self):
        lost = SimpleNamespace(name='snapshot-1', volume=SimpleNamespace(name='volume-9'))
        with self.assertRaises(CommandError):
            self.driver.create_snapshot(lost)
        self.driver.delete_snapshot(lost)
        self.assertEqual(self.names(), [])

    def test_an_image_larger_than_the_volume_is_no_volume(self):
        self.driver.create_volume(self.volume)
        path = self.driver.files.path(self.volume.name)
        fetch = self.cinder.image_utils.fetch_to_raw
        fetch.side_effect = lambda *args, **kwargs: os.truncate(path, 2 << 30)
        with self.assertRaisesRegex(ValueError, 'cannot become smaller'):
            self.driver.copy_image_to_volume(None, self.volume, 'service', 'image')

    def test_a_download_that_fails_is_the_callers_error_and_can_be_cleaned_up(self):
        self.driver.create_volume(self.volume)
        self.cinder.image_utils.fetch_to_raw.side_effect = OSError('Glance is gone')
        with self.assertRaisesRegex(OSError, 'Glance is gone'):
            self.driver.copy_image_to_volume(None, self.volume, 'service', 'image')
        for _ in range(2):
            self.driver.delete_volume(self.volume)
        self.assertEqual(self.names(), [])

    def test_a_clone_has_the_data_of_its_source_and_not_its_later_changes(self):
        self.driver.create_volume(self.volume)
        with open(self.driver.files.path('volume-1'), 'r+b') as file:
            file.write(b'before')
        self.driver.create_cloned_volume(SimpleNamespace(name='clone', size=1), self.volume)
        with open(self.driver.files.path('volume-1'), 'r+b') as file:
            file.write(b'after!')
        with open(self.driver.files.path('clone'), 'rb') as file:
            self.assertEqual(file.read(6), b'before')

    def test_a_volume_becomes_an_image_from_its_file(self):
        self.driver.create_volume(self.volume)
        self.driver.copy_volume_to_image(None, self.volume, 'service', {'id': 'i'})
        self.cinder.image_utils.upload_volume.assert_called_once_with(
            None, 'service', {'id': 'i'}, self.directory + '/volume-1', self.volume)

    def test_a_name_that_leads_out_of_the_directory_is_refused_everywhere(self):
        evil = SimpleNamespace(id='1', name='../volume', size=1)
        for call in (lambda: self.driver.create_volume(evil),
                     lambda: self.driver.extend_volume(evil, 2),
                     lambda: self.driver.delete_volume(evil),
                     lambda: self.driver.create_cloned_volume(evil, self.volume),
                     lambda: self.driver.initialize_connection(evil, {})):
            with self.assertRaises(ValueError):
                call()

    def test_detaching_and_exporting_leave_the_file_alone(self):
        self.driver.create_volume(self.volume)
        self.driver.create_export(None, self.volume, {})
        self.driver.ensure_export(None, self.volume)
        self.driver.terminate_connection(self.volume, {}, force=True)
        self.driver.remove_export(None, self.volume)
        self.assertEqual(self.names(), ['volume-1'])

    def test_backends_of_one_disk_report_only_their_own_promises(self):
        other = self.cinder.LabVolumeDriver()
        other.configuration.lab_volume_dir = self.directory + '/zone-b'
        other.do_setup(None)
        other.create_volume(SimpleNamespace(name='volume-2', size=7))
        other._update_volume_stats()
        self.assertEqual(other._stats['pools'][0]['provisioned_capacity_gb'], 7)


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
