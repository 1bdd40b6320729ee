"""Actions with commands of the host: loop devices, subvolumes, servers' units."""
import os
import socket
import threading
from unittest import mock

from labdriver import front, loop_devices, server, root_subvolumes
from labdriver.shell import CommandError
from labdriver.volumes import Disk
from tests import objects
from tests.commands import CommandsTest

PORT = {'id': '0123456789abcdef', 'mac': 'fa:16:3e:00:00:01', 'mtu': 1350}
TAP = 'tap0123456789a'
UUID = '11111111-2222-3333-4444-555555555555'


class LoopTest(CommandsTest):
    """stub of losetup on a host where the file $ROOT/loop contains the path that /dev/loop3
    serves"""

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
        patch = mock.patch('labdriver.loop_devices.make_node')
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


class DeleteSubvolumeTest(CommandsTest):
    """stub of btrfs; a subvolume is a directory with a file .sub in it"""

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


class UnitTest(CommandsTest):
    def setUp(self):
        super().setUp()
        for name in ('systemctl', 'systemd-run', 'btrfs'):
            self.stub(name)
        self.server = server.Server(self.directory, UUID)

    def test_what_an_earlier_start_left_is_ended_before_a_new_one(self):
        self.server.start()
        verbs = [' '.join(call.split()[:2]) for call in self.calls()]
        self.assertEqual(verbs, ['systemctl stop', 'systemctl reset-failed', 'systemd-run --quiet'])

    def test_the_console_runs_runc_with_the_servers_directory(self):
        self.server.start()
        call, = self.calls('systemd-run')
        self.assertIn('--unit lab-srv-%s.service' % UUID, call)
        self.assertTrue(call.endswith('--bundle %s/%s %s' % (self.directory, UUID, UUID)), call)
        self.assertIn('console.log /usr/bin/runc --root /run/lab-runc run', call)

    def test_a_unit_that_cannot_be_started_is_an_error_with_its_reason(self):
        self.stub('systemd-run', 'echo "Unit already exists" >&2; exit 1')
        with self.assertRaisesRegex(CommandError, 'Unit already exists'):
            self.server.start()

    def test_switching_off_what_is_off_is_no_error(self):
        self.stub('systemctl', 'echo "not loaded" >&2; exit 5')
        self.server.kill()

    def test_a_server_is_switched_on_until_systemd_is_through_with_its_unit(self):
        for state, answer in (('active', True), ('activating', True), ('deactivating', True),
                              ('inactive', False), ('failed', False), ('', False)):
            self.stub('systemctl', 'echo ' + state)
            self.assertIs(self.server.switched_on(), answer, state)

    def test_remains_of_an_earlier_try_are_gone_in_a_new_server(self):
        self.stub('btrfs', 'case "$2" in snapshot) mkdir "$4" ;; delete) rm -r "$3" ;; esac')
        self.server.create('labcloud-a', '/image')
        self.server.set_disks((Disk('/dev/vdb', 'volume', 7, 3),))
        self.server.create('labcloud-b', '/image')
        self.assertEqual(self.server.disks(), ())
        self.assertEqual(self.server.owner(), 'labcloud-b')
        self.assertEqual(sorted(os.listdir(self.server.directory)), ['owner', 'rootfs'])

    def test_a_server_without_room_for_its_disk_is_an_error_and_can_be_deleted(self):
        self.stub('btrfs', 'echo "No space left on device" >&2; exit 1')
        with self.assertRaisesRegex(CommandError, 'No space left'):
            self.server.create('labcloud-a', '/image')
        self.server.delete_disk()
        self.assertFalse(self.server.exists())


class StatisticsSocketTest(CommandsTest):
    """haproxy's statistics, from a real socket."""

    def setUp(self):
        super().setUp()
        self.front = front.Front(self.directory, objects.simple())
        os.makedirs(self.front.directory)

    def serve(self, *parts):
        """Answer one connection with these parts."""
        listening = socket.socket(socket.AF_UNIX)
        self.addCleanup(listening.close)
        listening.bind(self.front.socket)
        listening.listen(1)
        self.asked = []

        def answer():
            connection, _ = listening.accept()
            with connection:
                self.asked.append(connection.recv(100))
                for part in parts:
                    connection.sendall(part)
        thread = threading.Thread(target=answer)
        thread.start()
        self.addCleanup(thread.join)

    def test_are_asked_for_and_read_to_the_end(self):
        self.serve(b'# pxname,svname,sta', b'tus,\nlistener,FRONTEND,OPEN,\npool,m1,UP,\n',
                   b'pool,BACKEND,UP,\n\n')
        self.assertEqual(self.front.known(), {'listener', 'm1'})
        self.assertEqual(self.asked, [b'show stat\n'])

    def test_are_unknown_while_nothing_listens(self):
        self.assertFalse(self.front.is_listening())
        self.assertIsNone(self.front.known())
        with socket.socket(socket.AF_UNIX) as left:
            left.bind(self.front.socket)    # a socket that a killed haproxy left
        self.assertTrue(self.front.is_listening())
        self.assertIsNone(self.front.known())
