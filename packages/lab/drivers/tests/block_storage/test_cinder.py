"""The Cinder driver, with Cinder replaced by stubs."""
import importlib
import os
from types import SimpleNamespace
from unittest import mock

from labdriver.shell import CommandError
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
        patch = mock.patch('labdriver.block_storage.loop_devices.detach')
        patch.start()
        self.addCleanup(patch.stop)
        self.cinder = importlib.import_module('labdriver.block_storage.cinder')
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
