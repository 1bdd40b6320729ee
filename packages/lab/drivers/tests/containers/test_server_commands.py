"""Server actions that run commands of the host: units and network links."""
import os

from labdriver import network
from labdriver.containers import server
from labdriver.containers.volumes import Disk
from labdriver.shell import CommandError
from tests.commands import PORT, CommandsTest, LinksTest

UUID = '11111111-2222-3333-4444-555555555555'


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


class PlugTest(LinksTest):
    def test_further_ports_get_the_next_free_name(self):
        one = server.Server(self.directory, UUID)
        for index in range(3):
            one.plug(dict(PORT, id='port-%d-xyz' % index), 'brq1')
        self.assertEqual(network.list_device_names(one.namespace), {'eth0', 'eth1', 'eth2'})
        one.remove_network()
        self.assertEqual(os.listdir(self.directory + '/netns'), [])

    def test_network_of_a_server_that_never_had_one_is_removed_quietly(self):
        server.Server(self.directory, UUID).remove_network()
        self.assertEqual(self.calls('ip'), [])
