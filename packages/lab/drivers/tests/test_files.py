"""Files on the disk: config drive, faults, volumes, images, locks."""
import multiprocessing
import os
import stat
import time
import unittest
from unittest import mock

from labdriver import config_drive, faults, file_lock, images, volume_files
from labdriver.shell import CommandError
from tests.support import DirectoryTest


def content(path):
    """Return the content of a file."""
    with open(path, 'rb') as file:
        return file.read()


class ConfigDriveTest(DirectoryTest):
    FILES = (('openstack/latest/meta_data.json', b'{"uuid": "1"}'),
             ('openstack/latest/user_data', '#!/bin/sh\n'))

    def setUp(self):
        super().setUp()
        self.drive = os.path.join(self.directory, 'config-drive')

    def test_has_text_and_bytes(self):
        config_drive.write(self.drive, self.FILES)
        for name, data in self.FILES:
            data = data if isinstance(data, bytes) else data.encode()
            self.assertEqual(content(os.path.join(self.drive, name)), data)

    def test_is_readable_by_root_only(self):
        config_drive.write(self.drive, self.FILES)
        self.assertEqual(stat.S_IMODE(os.stat(self.drive).st_mode), 0o700)
        for directory, _, names in os.walk(self.drive):
            for name in names:
                mode = os.stat(os.path.join(directory, name)).st_mode
                self.assertEqual(stat.S_IMODE(mode), 0o400)

    def test_writing_again_leaves_nothing_of_before(self):
        config_drive.write(self.drive, [('old', 'x')])
        config_drive.write(self.drive, self.FILES)
        self.assertEqual(os.listdir(self.drive), ['openstack'])
        self.assertEqual(os.listdir(self.directory), ['config-drive'])

    def test_nothing_is_written_outside(self):
        for name in ('../escaped', '/etc/escaped', 'a/../../../escaped'):
            with self.assertRaises(ValueError):
                config_drive.write(self.drive, [(name, 'x')])
        self.assertFalse(os.path.exists(self.drive))


class FaultsTest(DirectoryTest):
    def ask(self, name, text):
        with open(os.path.join(self.directory, name), 'w', encoding='utf-8') as file:
            file.write(text)

    def test_nothing_asked(self):
        self.assertIsNone(faults.asked(self.directory, 'web'))
        self.assertIsNone(faults.asked(self.directory + '/missing', 'web'))

    def test_stays_until_its_file_is_gone(self):
        for fault in (faults.ERROR, faults.NO_BOOT):
            self.ask('web', fault + '\n')
            self.assertEqual(faults.asked(self.directory, 'web'), fault)
            self.assertEqual(faults.asked(self.directory, 'web'), fault)
        os.unlink(os.path.join(self.directory, 'web'))
        self.assertIsNone(faults.asked(self.directory, 'web'))

    def test_is_for_one_server(self):
        self.ask('web', 'error')
        self.assertIsNone(faults.asked(self.directory, 'other'))
        self.assertEqual(os.listdir(self.directory), ['web'])

    def test_unknown_fault_is_an_error(self):
        self.ask('web', 'explode')
        with self.assertRaisesRegex(ValueError, 'explode'):
            faults.asked(self.directory, 'web')

    def test_server_name_is_not_a_path(self):
        self.assertIsNone(faults.asked(self.directory, '../../etc/passwd'))


class VolumeFilesTest(DirectoryTest):
    def setUp(self):
        super().setUp()
        self.files = volume_files.VolumeFiles(os.path.join(self.directory, 'zone-a'))
        patch = mock.patch('labdriver.loop_devices.detach')
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


def hold(path, held, release):
    """Process that holds a lock until it is told to release it."""
    with file_lock.exclusive(path):
        held.set()
        release.wait(10)


class FileLockTest(DirectoryTest):
    def setUp(self):
        super().setUp()
        self.lock = os.path.join(self.directory, 'lock')
        self.held, self.release = multiprocessing.Event(), multiprocessing.Event()
        self.other = multiprocessing.Process(target=hold,
                                             args=(self.lock, self.held, self.release))

    def test_another_process_waits(self):
        self.other.start()
        self.held.wait(10)
        with self.assertRaises(TimeoutError):
            with file_lock.exclusive(self.lock, timeout=0.2):
                self.fail('two processes hold the lock')
        self.release.set()
        with file_lock.exclusive(self.lock, timeout=10):
            pass
        self.other.join()

    def test_a_killed_process_holds_nothing(self):
        self.other.start()
        self.held.wait(10)
        self.other.kill()
        with file_lock.exclusive(self.lock, timeout=10):
            pass
        self.other.join()

    def test_the_same_process_waits_too(self):
        with file_lock.exclusive(self.lock):
            with self.assertRaises(TimeoutError):
                with file_lock.exclusive(self.lock, timeout=0):
                    self.fail('the lock is held twice')

    def test_an_exception_releases_it(self):
        with self.assertRaises(KeyError):
            with file_lock.exclusive(self.lock):
                raise KeyError
        with file_lock.exclusive(self.lock, timeout=0):
            pass


class PlainDirectories:
    """Replacement for btrfs: subvolumes as directories."""

    create = staticmethod(os.mkdir)

    @staticmethod
    def delete(path):
        """Remove a directory tree."""
        if os.path.isdir(path):
            images.run('rm', '-rf', path)


def ensure_slowly(directory, counter):
    """Process that requests an image whose download takes a while."""
    with mock.patch('labdriver.images.root_subvolumes', PlainDirectories):
        def fetch(path):
            time.sleep(0.3)
            with counter.get_lock():
                counter.value += 1
            make_archive(path)
        images.ImageStore(directory).ensure('image', fetch)


def make_archive(path, init=True):
    """Return a tar archive of a root file system."""
    source = path + '.source'
    os.makedirs(source + '/sbin')
    if init:
        os.symlink('/lib/systemd/systemd', source + '/sbin/init')
    images.run('tar', '-cf', path, '-C', source, '.')
    images.run('rm', '-rf', source)


class ImageStoreTest(DirectoryTest):
    def setUp(self):
        super().setUp()
        patch = mock.patch('labdriver.images.root_subvolumes', PlainDirectories)
        patch.start()
        self.addCleanup(patch.stop)
        self.store = images.ImageStore(self.directory)

    def test_unpacks_once(self):
        fetch = mock.Mock(side_effect=make_archive)
        for _ in range(2):
            path = self.store.ensure('image', fetch)
        self.assertEqual(fetch.call_count, 1)
        self.assertEqual(os.listdir(path), ['sbin'])
        self.assertEqual(sorted(os.listdir(self.directory)), ['image', 'image.lock'])

    def test_two_processes_unpack_once(self):
        counter = multiprocessing.Value('i', 0)
        processes = [multiprocessing.Process(target=ensure_slowly,
                                             args=(self.directory, counter)) for _ in range(2)]
        for process in processes:
            process.start()
        for process in processes:
            process.join(20)
            self.assertEqual(process.exitcode, 0)
        self.assertEqual(counter.value, 1)

    def test_an_interrupted_first_time_counts_for_nothing(self):
        part = os.path.join(self.directory, 'image.part')
        os.makedirs(part + '/half')
        path = self.store.ensure('image', make_archive)
        self.assertEqual(os.listdir(path), ['sbin'])

    def test_failed_download_leaves_nothing(self):
        with self.assertRaises(KeyError):
            self.store.ensure('image', mock.Mock(side_effect=KeyError))
        self.assertEqual(os.listdir(self.directory), ['image.lock'])

    def test_other_formats_are_refused(self):
        def fetch(path):
            with open(path, 'wb') as file:
                file.write(b'QFI\xfb not a tar archive')
        with self.assertRaisesRegex(images.ImageError, 'image is not a tar archive'):
            self.store.ensure('image', fetch)
        self.assertEqual(os.listdir(self.directory), ['image.lock'])

    def test_an_image_without_init_is_refused(self):
        with self.assertRaisesRegex(images.ImageError, 'no /sbin/init'):
            self.store.ensure('image', lambda path: make_archive(path, init=False))


if __name__ == '__main__':
    unittest.main()
