"""Images on the disk."""
import multiprocessing
import os
import time
from unittest import mock

from labdriver.images import image_stores
from tests.support import DirectoryTest


class PlainDirectories:
    """Replacement for btrfs: subvolumes as directories."""

    create = staticmethod(os.mkdir)

    @staticmethod
    def delete(path):
        if os.path.isdir(path):
            image_stores.run('rm', '-rf', path)


def ensure_slowly(directory, counter):
    """Request an image with a slow download, and count the downloads. Runs in a separate
    process."""
    with mock.patch('labdriver.images.image_stores.root_subvolumes', PlainDirectories):
        def fetch(path):
            time.sleep(0.3)
            with counter.get_lock():
                counter.value += 1
            make_archive(path)
        image_stores.UnpackedImageStore(directory).ensure('image', fetch)


def make_archive(path, init=True):
    """Create a tar archive of a root file system at path."""
    source = path + '.source'
    os.makedirs(source + '/sbin')
    if init:
        os.symlink('/lib/systemd/systemd', source + '/sbin/init')
    image_stores.run('tar', '-cf', path, '-C', source, '.')
    image_stores.run('rm', '-rf', source)


class ImageStoreTest(DirectoryTest):
    def setUp(self):
        super().setUp()
        patch = mock.patch('labdriver.images.image_stores.root_subvolumes', PlainDirectories)
        patch.start()
        self.addCleanup(patch.stop)
        self.store = image_stores.UnpackedImageStore(self.directory)

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
        with self.assertRaisesRegex(image_stores.ImageError, 'image is not a tar archive'):
            self.store.ensure('image', fetch)
        self.assertEqual(os.listdir(self.directory), ['image.lock'])

    def test_an_image_without_init_is_refused(self):
        with self.assertRaisesRegex(image_stores.ImageError, 'no /sbin/init'):
            self.store.ensure('image', lambda path: make_archive(path, init=False))


class FileStoreTest(DirectoryTest):
    def test_a_file_is_fetched_once_and_whole(self):
        store = image_stores.ImageFileStore(self.directory + '/files')

        def fetch(path):
            with open(path, 'w', encoding='ascii') as file:
                file.write('kernel')
        fetched = mock.Mock(side_effect=fetch)
        with self.assertRaises(KeyError):
            store.ensure('one', mock.Mock(side_effect=KeyError))
        for _ in range(2):
            with open(store.ensure('one', fetched), encoding='ascii') as file:
                self.assertEqual(file.read(), 'kernel')
        self.assertEqual(fetched.call_count, 1)
