"""Volumes as sparse files."""
import os
from unittest import mock

from labdriver.block_storage import volume_files
from labdriver.shell import CommandError
from tests.support import DirectoryTest


class VolumeFilesTest(DirectoryTest):
    def setUp(self):
        super().setUp()
        self.files = volume_files.VolumeFiles(os.path.join(self.directory, 'zone-a'))
        patch = mock.patch('labdriver.block_storage.loop_devices.detach')
        self.detach = patch.start()
        self.addCleanup(patch.stop)

    def size(self, name):
        """Return the size in GiB, and the bytes on disk."""
        found = os.stat(self.files.path(name))
        return found.st_size / volume_files.GIB, found.st_blocks * 512

    def test_new_volume_takes_no_space(self):
        self.files.create('volume-1', 3)
        self.assertEqual(self.size('volume-1'), (3, 0))

    def test_extend_keeps_the_data(self):
        self.files.create('volume-1', 1)
        with open(self.files.path('volume-1'), 'r+b') as file:
            file.write(b'kept')
        self.files.extend('volume-1', 2)
        self.assertEqual(self.size('volume-1')[0], 2)
        with open(self.files.path('volume-1'), 'rb') as file:
            self.assertEqual(file.read(4), b'kept')

    def test_shrinking_is_refused(self):
        self.files.create('volume-1', 2)
        with self.assertRaises(ValueError):
            self.files.extend('volume-1', 1)

    def test_snapshot_is_independent(self):
        self.files.create('volume-1', 1)
        self.files.copy('volume-1', 'snapshot-1')
        with open(self.files.path('volume-1'), 'r+b') as file:
            file.write(b'later')
        self.files.copy('snapshot-1', 'volume-2', 2)
        self.assertEqual(self.size('volume-2')[0], 2)
        with open(self.files.path('volume-2'), 'rb') as file:
            self.assertEqual(file.read(5), bytes(5))

    def test_copy_is_never_smaller_than_its_source(self):
        self.files.create('volume-1', 2)
        self.files.copy('volume-1', 'volume-2', 1)
        self.assertEqual(self.size('volume-2')[0], 2)

    def test_failed_copy_leaves_no_volume(self):
        with self.assertRaises(CommandError):
            self.files.copy('missing', 'volume-2')
        self.assertFalse(os.path.exists(self.files.path('volume-2')))

    def test_delete_releases_the_loop_device_and_remains_of_a_copy(self):
        self.files.create('volume-1', 1)
        self.files.create('volume-1' + volume_files.PART, 1)
        self.files.delete('volume-1')
        self.detach.assert_called_once_with(self.files.path('volume-1'))
        self.assertEqual(os.listdir(self.files.directory), [])

    def test_delete_may_be_repeated(self):
        self.files.delete('volume-1')

    def test_names_are_not_paths(self):
        for name in ('../x', '/etc/passwd', '', '..'):
            with self.assertRaises(ValueError):
                self.files.path(name)

    def test_capacity_is_shared_by_the_backends(self):
        self.files.create('volume-1', 5)
        one, two = self.files.capacity(1), self.files.capacity(2)
        self.assertAlmostEqual(one['total_capacity_gb'], 2 * two['total_capacity_gb'])
        self.assertLessEqual(two['free_capacity_gb'], two['total_capacity_gb'])
        self.assertEqual(two['provisioned_capacity_gb'], 5)
