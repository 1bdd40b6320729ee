"""Loop devices, with a stub of losetup."""
import unittest
from unittest import mock

from labdriver.block_storage import loop_devices
from tests.commands import CommandsTest


class ListingTest(unittest.TestCase):
    LISTING = ('{"loopdevices": [{"name": "/dev/loop7", "back-file": "/v/a", "autoclear": true},'
               '{"name": "/dev/loop12", "back-file": "/v/a", "autoclear": false}]}')

    def test_finds_the_device_of_a_file(self):
        self.assertEqual(loop_devices.parse(self.LISTING, '/v/a'), '/dev/loop12')

    def test_file_without_device(self):
        self.assertIsNone(loop_devices.parse(self.LISTING, '/v/b'))
        self.assertIsNone(loop_devices.parse('', '/v/a'))

    def test_detached_device_that_is_still_mounted_is_not_used(self):
        listing = self.LISTING.replace('false', 'true')
        self.assertIsNone(loop_devices.parse(listing, '/v/a'))

    def test_minor(self):
        self.assertEqual(loop_devices.get_minor('/dev/loop12'), 12)


class LoopTest(CommandsTest):
    """Stub of losetup. The file $ROOT/loop contains the path of the file behind /dev/loop3."""

    LOSETUP = r'''
case "$1" in
  --json) [ ! -e "$ROOT/loop" ] ||
    printf '{"loopdevices":[{"name":"/dev/loop3","back-file":"%s","autoclear":false}]}' \
      "$(cat "$ROOT/loop")" ;;
  -f) echo /dev/loop3 ;;
  -d) rm "$ROOT/loop" ;;
  /dev/loop3) %s ;;
esac
'''

    def setUp(self):
        super().setUp()
        patch = mock.patch('labdriver.block_storage.loop_devices.make_node')
        self.make_node = patch.start()
        self.addCleanup(patch.stop)
        self.machine('echo "$2" >"$ROOT/loop"')

    def machine(self, attach):
        self.stub('losetup', self.LOSETUP.replace('%s ;;\nesac', attach + ' ;;\nesac'))

    def test_a_file_gets_a_device_with_a_node(self):
        self.assertEqual(loop_devices.attach('/v/1'), '/dev/loop3')
        self.make_node.assert_called_once_with('/dev/loop3')

    def test_a_file_keeps_the_device_it_has(self):
        for _ in range(2):
            self.assertEqual(loop_devices.attach('/v/1'), '/dev/loop3')
        self.assertEqual(len(self.calls('losetup -f')), 1)

    def test_a_device_that_another_takes_first_is_left_to_it(self):
        self.machine('if [ -e "$ROOT/lost" ]; then echo "$2" >"$ROOT/loop"; '
                     'else touch "$ROOT/lost"; echo "Device or resource busy" >&2; exit 1; fi')
        self.assertEqual(loop_devices.attach('/v/1'), '/dev/loop3')
        self.assertEqual(len(self.calls('losetup -f')), 2)

    def test_a_machine_without_free_devices_is_an_error_after_some_tries(self):
        self.machine('exit 1')
        with self.assertRaisesRegex(RuntimeError, 'no loop device for /v/1'):
            loop_devices.attach('/v/1')
        self.assertEqual(len(self.calls('losetup -f')), loop_devices.ATTEMPTS)

    def test_detaching_may_be_repeated(self):
        loop_devices.attach('/v/1')
        for _ in range(2):
            loop_devices.detach('/v/1')
        self.assertEqual(len(self.calls('losetup -d')), 1)

    def test_detaching_a_device_that_is_in_use_is_no_error(self):
        loop_devices.attach('/v/1')
        self.stub('losetup', self.LOSETUP.replace('rm "$ROOT/loop"', 'exit 1'))
        loop_devices.detach('/v/1')

    def test_a_grown_file_is_told_to_its_device(self):
        loop_devices.attach('/v/1')
        loop_devices.grow('/v/1')
        self.assertEqual(self.calls('losetup -c'), ['losetup -c /dev/loop3'])
