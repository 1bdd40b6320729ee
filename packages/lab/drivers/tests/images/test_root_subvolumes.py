"""Subvolumes, with a stub of btrfs."""
import os
import unittest

from labdriver.images import root_subvolumes
from tests.commands import CommandsTest


class SubvolumesTest(unittest.TestCase):
    LISTING = ('ID 300 gen 9 top level 299 path nova/instances/u/rootfs/var/lib/portables\n'
               'ID 301 gen 9 top level 299 path nova/instances/u/rootfs/srv/a path b\n')

    def test_paths_are_relative_to_the_subvolume(self):
        names = root_subvolumes.parse_nested_names('nova/instances/u/rootfs', self.LISTING)
        self.assertEqual(names, ['var/lib/portables', 'srv/a path b'])

    def test_others_are_left_out(self):
        names = root_subvolumes.parse_nested_names('nova/instances/u/root', self.LISTING)
        self.assertEqual(names, [])
        self.assertEqual(root_subvolumes.parse_nested_names('x', ''), [])

    def test_deleting_what_is_not_there(self):
        root_subvolumes.delete('/nonexistent/subvolume')


class DeleteSubvolumeTest(CommandsTest):
    """Stub of btrfs. A subvolume is a directory that contains a file .sub."""

    BTRFS = r'''
case "$2" in
  delete)
    if [ -n "$(find "$3" -mindepth 2 -name .sub)" ]; then echo "Directory not empty" >&2; exit 1; fi
    [ -e "$3/.sub" ] && rm -r "$3" ;;
  show) echo "nova/${3##*/}" ;;
  list) find "$4" -mindepth 2 -name .sub | while read -r f; do
    d=$(dirname "$f"); echo "ID 300 gen 9 top level 5 path nova/${4##*/}${d#"$4"}"; done ;;
esac
'''

    def setUp(self):
        super().setUp()
        self.stub('btrfs', self.BTRFS)
        self.rootfs = self.directory + '/rootfs'

    def make(self, *names):
        for name in names:
            os.makedirs(os.path.join(self.rootfs, name), exist_ok=True)
            with open(os.path.join(self.rootfs, name, '.sub'), 'w', encoding='utf-8'):
                pass

    def test_goes_with_the_subvolumes_that_a_server_made_in_it(self):
        self.make('', 'var/lib/machines', 'var/lib/portables')
        root_subvolumes.delete(self.rootfs)
        self.assertFalse(os.path.exists(self.rootfs))

    def test_that_is_only_a_directory_is_removed_too(self):
        os.makedirs(self.rootfs + '/half/made')
        root_subvolumes.delete(self.rootfs)
        self.assertFalse(os.path.exists(self.rootfs))

    def test_that_is_not_there_asks_nobody(self):
        root_subvolumes.delete(self.rootfs)
        self.assertEqual(self.calls('btrfs'), [])
