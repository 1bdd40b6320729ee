"""Cinder's driver and the front of a load balancer."""
import importlib
import os
from types import SimpleNamespace
from unittest import mock

from labdriver import front
from labdriver.shell import CommandError
from tests import objects
from tests.support import DirectoryTest, stub_modules


class CinderCase(DirectoryTest):
    """The driver of a backend whose volumes are in the test's directory."""

    def setUp(self):
        super().setUp()

        def base_init(instance):
            instance.configuration = mock.Mock(
                lab_volume_dir=self.directory, lab_backends=2, volume_backend_name='lab',
                max_over_subscription_ratio='20.0', volume_dd_blocksize='1M')

        stub_modules(self, {
            'cinder': {'interface': SimpleNamespace(volumedriver=lambda driver: driver)},
            'cinder.image': {'image_utils': mock.Mock()},
            'cinder.volume': {
                'configuration': mock.Mock(),
                'driver': SimpleNamespace(VolumeDriver=type('VolumeDriver', (), {
                    '__init__': base_init}))},
            'oslo_config': {'cfg': mock.Mock()},
        })
        patch = mock.patch('labdriver.loop_devices.detach')
        patch.start()
        self.addCleanup(patch.stop)
        self.cinder = importlib.import_module('labdriver.cinder')
        self.driver = self.cinder.LabVolumeDriver()
        self.driver.do_setup(None)
        self.volume = SimpleNamespace(id='1', name='volume-1', size=1)

    def names(self):
        return sorted(os.listdir(self.directory))


class CinderTest(CinderCase):
    def test_life_of_a_volume(self):
        self.driver.create_volume(self.volume)
        self.driver.extend_volume(self.volume, 3)
        self.assertEqual(os.path.getsize(self.directory + '/volume-1'), 3 << 30)
        self.driver.delete_volume(self.volume)
        self.assertEqual(self.names(), [])

    def test_snapshot_and_clone(self):
        self.driver.create_volume(self.volume)
        snapshot = SimpleNamespace(name='snapshot-1', volume=self.volume)
        self.driver.create_snapshot(snapshot)
        for index, (method, source) in enumerate((
                (self.driver.create_volume_from_snapshot, snapshot),
                (self.driver.create_cloned_volume, self.volume))):
            method(SimpleNamespace(name='copy-%d' % index, size=2), source)
        self.assertEqual(self.names(), ['copy-0', 'copy-1', 'snapshot-1', 'volume-1'])
        self.driver.delete_snapshot(snapshot)
        self.assertNotIn('snapshot-1', self.names())

    def test_image_is_written_into_the_file(self):
        self.driver.create_volume(self.volume)
        self.volume.size = 2
        self.driver.copy_image_to_volume(None, self.volume, 'service', 'image')
        self.cinder.image_utils.fetch_to_raw.assert_called_once_with(
            None, 'service', 'image', self.directory + '/volume-1', '1M', size=2)
        self.assertEqual(os.path.getsize(self.directory + '/volume-1'), 2 << 30)

    def test_connection_names_the_file(self):
        self.assertEqual(self.driver.initialize_connection(self.volume, {}), {
            'driver_volume_type': 'lab_loop',
            'data': {'path': self.directory + '/volume-1', 'volume_id': '1'}})

    def test_statistics(self):
        self.driver.create_volume(self.volume)
        self.driver._update_volume_stats()
        pool, = self.driver._stats['pools']
        self.assertEqual(pool['provisioned_capacity_gb'], 1)
        self.assertTrue(pool['thin_provisioning_support'])
        self.assertEqual(self.driver._stats['storage_protocol'], 'lab_loop')


class FrontTest(DirectoryTest):
    def setUp(self):
        super().setUp()
        self.front = front.Front(self.directory, objects.simple())
        self.run = self.patch('labdriver.front.run')
        self.active = self.patch('labdriver.front.succeeds', return_value=False)
        self.network = self.patch('labdriver.front.network')
        self.rows = self.patch('labdriver.front.Front.statistics', return_value=[
            {'pxname': 'listener', 'svname': 'FRONTEND'}, {'pxname': 'pool', 'svname': 'm1'},
            {'pxname': 'pool', 'svname': 'm2'}, {'pxname': 'pool', 'svname': 'BACKEND'}])

    def patch(self, name, **fields):
        patch = mock.patch(name, **fields)
        self.addCleanup(patch.stop)
        return patch.start()

    def ran(self, *words):
        """Return the commands that were run and begin with these words."""
        return [call.args for call in self.run.call_args_list
                if call.args[:len(words)] == words]

    def test_members_elsewhere_are_joined_without_another_way_out(self):
        port = {'id': '0123456789abcdef', 'mac': 'm', 'mtu': 1350}
        self.front.join(port, '10.0.0.77', '24')
        self.network.plug.assert_called_once_with(port, 'lb-balancer', 'mem0123456789a')
        self.assertEqual(self.ran('ip'), [('ip', '-n', 'lb-balancer', 'addr', 'replace',
                                           '10.0.0.77/24', 'dev', 'mem0123456789a')])

    def test_first_time_it_is_started(self):
        self.front.apply()
        self.assertEqual(len(self.ran('systemd-run')), 1)
        self.assertIn('frontend listener', self.front._current())

    def test_nothing_changed_nothing_done(self):
        self.front.apply()
        self.active.return_value = True
        self.run.reset_mock()
        self.front.apply()
        self.run.assert_not_called()

    def test_change_is_a_reload(self):
        self.front.apply()
        self.active.return_value = True
        self.front.balancer.listeners[0].protocol_port = 8080
        self.front.apply()
        self.assertEqual(len(self.ran('systemctl', 'kill', '--kill-who=main', '--signal=USR2')), 1)

    def test_stopped_unit_is_started_again(self):
        self.front.apply()
        self.front.apply()
        self.assertEqual(len(self.ran('systemd-run')), 2)

    def test_without_listener_nothing_runs(self):
        self.front.apply()
        self.front.balancer.listeners.clear()
        self.front.apply()
        self.assertEqual(len(self.ran('systemctl', 'stop', self.front.unit)), 1)
        self.assertEqual(self.front._current(), '')

    def test_refused_configuration_does_not_replace_the_good_one(self):
        self.front.apply()
        good = self.front._current()
        self.front.balancer.listeners[0].protocol_port = 0
        self.run.side_effect = CommandError(['haproxy'], 1, 'invalid port')
        with self.assertRaisesRegex(front.FrontError, 'invalid port'):
            self.front.apply()
        self.assertEqual(self.front._current(), good)

    def test_haproxy_that_does_not_come_up_is_an_error(self):
        self.rows.side_effect = ConnectionRefusedError
        self.run.return_value = 'cannot bind socket'
        with mock.patch('labdriver.front.START_TIMEOUT', 0), \
                self.assertRaisesRegex(front.FrontError, 'cannot bind socket'):
            self.front.apply()

    def test_members_of_before_do_not_count_as_done(self):
        self.rows.return_value = self.rows.return_value[:2]
        with mock.patch('labdriver.front.START_TIMEOUT', 0), self.assertRaises(front.FrontError):
            self.front.apply()

    def test_address(self):
        self.front.connect({'id': 'p'}, '24', '10.0.0.1')
        self.assertEqual(len(self.ran('ip', '-n', 'lb-balancer', 'addr', 'replace',
                                      '10.0.0.10/24')), 1)
        self.assertEqual(len(self.ran('ip', '-n', 'lb-balancer', 'route', 'replace', 'default',
                                      'via', '10.0.0.1')), 1)

    def test_network_without_gateway(self):
        self.front.connect({'id': 'p'}, '24', None)
        self.assertEqual(self.ran('ip', '-n', 'lb-balancer', 'route'), [])

    def test_remove_leaves_nothing(self):
        self.front.apply()
        self.front.remove()
        self.assertEqual(os.listdir(self.directory), [])
        self.network.unplug.assert_called_once_with('f7b9d0f2-port')
        self.network.remove_namespace.assert_called_once_with('lb-balancer')
