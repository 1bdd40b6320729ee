"""Volumes of a server: names, nodes and links."""
import os
import stat
import tempfile
import unittest
from unittest import mock

from labdriver.containers import volumes

ONE = volumes.Disk('/dev/vdb', 'aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee', 7, 3)
TWO = volumes.Disk('/dev/vdc', 'ffffffff-bbbb-cccc-dddd-eeeeeeeeeeee', 7, 4)


class DiskTest(unittest.TestCase):
    def test_link_is_the_one_of_kvm(self):
        self.assertEqual(ONE.link, '/dev/disk/by-id/virtio-aaaaaaaa-bbbb-cccc-d')
        self.assertEqual(ONE.link_target, '../../vdb')

    def test_link_leads_to_the_node(self):
        target = os.path.normpath(os.path.join(os.path.dirname(ONE.link), ONE.link_target))
        self.assertEqual(target, ONE.device)

    def test_other_names_are_refused(self):
        for name in ('vdb', '/dev/../etc/passwd', '/dev/vd b', '/tmp/x', '/dev/vdb; reboot'):
            with self.assertRaises(ValueError):
                volumes.Disk(name, 'id', 7, 0)


class ListTest(unittest.TestCase):
    def test_add(self):
        self.assertEqual(volumes.add((ONE,), TWO), (ONE, TWO))

    def test_adding_again_changes_nothing(self):
        self.assertEqual(volumes.add((ONE, TWO), TWO), (ONE, TWO))

    def test_a_name_is_used_once(self):
        other = volumes.Disk(ONE.device, 'other', 7, 9)
        self.assertEqual(volumes.add((ONE, TWO), other), (TWO, other))

    def test_a_volume_is_there_once(self):
        moved = volumes.Disk('/dev/vdd', ONE.volume_id, 7, 3)
        self.assertEqual(volumes.add((ONE, TWO), moved), (TWO, moved))

    def test_remove(self):
        self.assertEqual(volumes.remove((ONE, TWO), volume_id=ONE.volume_id), (TWO,))
        self.assertEqual(volumes.remove((ONE, TWO), device='/dev/vdc'), (ONE,))
        self.assertEqual(volumes.remove((ONE,), volume_id='unknown'), (ONE,))


class NodeTest(unittest.TestCase):
    """A plain file replaces the node, because mknod needs privileges and a file system with
    devices."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = directory.name
        self.made = []
        for patch in (mock.patch('os.mknod', self.mknod), mock.patch('os.chown')):
            patch.start()
            self.addCleanup(patch.stop)

    def mknod(self, path, mode, device):
        self.made.append((path, stat.S_ISBLK(mode), os.major(device), os.minor(device)))
        with open(path, 'x', encoding='utf-8'):
            pass

    def test_show_makes_node_and_link(self):
        volumes.show(self.root, ONE)
        self.assertEqual(self.made, [(self.root + '/dev/vdb', True, 7, 3)])
        self.assertEqual(os.readlink(self.root + ONE.link), '../../vdb')
        self.assertTrue(os.path.samefile(self.root + ONE.link, self.root + ONE.device))
        self.assertEqual(stat.S_IMODE(os.stat(self.root + ONE.device).st_mode), 0o660)

    def test_show_again_replaces(self):
        volumes.show(self.root, ONE)
        volumes.show(self.root, ONE)
        self.assertEqual(len(self.made), 2)

    def test_hide_removes_both_and_may_be_repeated(self):
        volumes.show(self.root, ONE)
        volumes.show(self.root, TWO)
        volumes.hide(self.root, ONE)
        volumes.hide(self.root, ONE)
        self.assertEqual(os.listdir(self.root + volumes.BY_ID), [os.path.basename(TWO.link)])
        self.assertFalse(os.path.lexists(self.root + ONE.device))
