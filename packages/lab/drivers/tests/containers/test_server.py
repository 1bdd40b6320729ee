"""The directory of a server, and the properties of its unit."""
import json
import os
import unittest
from unittest import mock

from labdriver.containers import server
from labdriver.containers.volumes import Disk
from tests.support import DirectoryTest

UUID = '11111111-2222-3333-4444-555555555555'
ONE = Disk('/dev/vdb', 'aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee', 7, 3)
TWO = Disk('/dev/vdc', 'ffffffff-bbbb-cccc-dddd-eeeeeeeeeeee', 7, 4)


class ServerTest(DirectoryTest):
    def setUp(self):
        super().setUp()
        self.server = self.found()
        os.makedirs(self.server.rootfs)

    def found(self):
        """Return the server as a restarted service reads it."""
        return server.Server(self.directory, UUID)

    def configuration(self):
        with open(os.path.join(self.server.directory, 'config.json'), encoding='utf-8') as file:
            return json.load(file)

    def file(self, name, text):
        with open(os.path.join(self.server.directory, name), 'w', encoding='utf-8') as file:
            file.write(text)

    def test_owner(self):
        self.assertIsNone(self.server.owner())
        self.server.own('labcloud-a')
        self.assertEqual(self.found().owner(), 'labcloud-a')

    def test_each_host_lists_its_own(self):
        self.server.own('labcloud-a')
        os.makedirs(os.path.join(self.directory, 'half-deleted'))
        self.file('../stray', 'x')
        self.assertEqual(server.list_owned_uuids(self.directory, 'labcloud-a'), [UUID])
        self.assertEqual(server.list_owned_uuids(self.directory, 'labcloud-b'), [])

    def test_configuration_is_what_runc_starts(self):
        self.server.configure('web', 512, 2)
        configuration = self.configuration()
        self.assertEqual(configuration['hostname'], 'web')
        self.assertEqual(configuration['root']['path'], self.server.rootfs)
        self.assertIn('exec /sbin/init', configuration['process']['args'][2])

    def test_server_that_does_not_boot(self):
        self.server.configure('web', 512, 2, boots=False)
        self.assertIn('Kernel panic', self.configuration()['process']['args'][2])

    def test_config_drive_is_mounted_once_it_is_written(self):
        self.server.write_config_drive([('openstack/latest/meta_data.json', '{}')])
        self.server.configure('web', 512, 2)
        sources = [one['source'] for one in self.configuration()['mounts']]
        self.assertIn(os.path.join(self.server.directory, 'config-drive'), sources)

    def test_volumes_survive_restarts_of_the_service_and_of_the_server(self):
        self.server.configure('web', 512, 2)
        self.server.attach(ONE)
        self.server.attach(TWO)
        self.assertEqual(self.found().disks(), (ONE, TWO))
        paths = [device['path'] for device in self.configuration()['linux']['devices']]
        self.assertEqual(paths[-2:], ['/dev/vdb', '/dev/vdc'])
        self.found().detach(ONE.volume_id)
        self.assertEqual(self.found().disks(), (TWO,))
        self.assertNotIn('vdb', json.dumps(self.configuration()))

    def test_configuring_keeps_the_volumes(self):
        self.server.set_disks((ONE,))
        self.server.configure('web', 1024, 1)
        self.assertIn('../../vdb', self.configuration()['process']['args'][2])

    def test_running_server_gets_its_volume_at_once(self):
        self.server.configure('web', 512, 2)
        with mock.patch.object(server.Server, 'pid', return_value=42), \
                mock.patch('labdriver.containers.volumes.show') as show, \
                mock.patch('labdriver.containers.volumes.hide') as hide:
            self.server.attach(ONE)
            show.assert_called_once_with('/proc/42/root', ONE)
            self.server.detach(ONE.volume_id)
            hide.assert_called_once_with('/proc/42/root', ONE)

    def test_does_not_run(self):
        self.assertIsNone(self.server.pid())
        for text in ('', 'x', '0', '999999999'):
            self.file('pid', text)
            self.assertIsNone(self.server.pid())

    def test_process_of_another_is_not_the_server(self):
        self.file('pid', str(os.getpid()))
        self.assertIsNone(self.server.pid())

    def test_runs_when_the_process_is_in_its_cgroup(self):
        self.file('pid', '42')
        with mock.patch('builtins.open', self.cgroup_of_42):
            self.assertEqual(self.server.pid(), 42)

    def cgroup_of_42(self, path, *args, **kwargs):
        if path == '/proc/42/cgroup':
            return mock.mock_open(read_data='4:memory:/lab/%s\n' % UUID)()
        return self.real_open(path, *args, **kwargs)

    real_open = staticmethod(open)

    def test_console_output_is_the_end_of_the_log(self):
        self.assertEqual(self.server.console_output(), b'')
        self.file('console.log', 'x' * server.CONSOLE_TAIL + 'login: ')
        output = self.server.console_output()
        self.assertEqual(len(output), server.CONSOLE_TAIL)
        self.assertTrue(output.endswith(b'login: '))

    def test_waiting_is_bounded(self):
        self.assertTrue(self.server._wait(lambda: True, 0))
        self.assertFalse(self.server._wait(lambda: False, 0))

    def test_power_off_asks_init_first(self):
        with mock.patch.object(server.Server, 'pid', side_effect=[42, None]), \
                mock.patch('os.kill') as signal, mock.patch.object(server.Server, 'kill') as kill:
            self.server.power_off(10)
        signal.assert_called_once_with(42, server.POWER_OFF)
        kill.assert_called_once_with()

    def test_power_off_without_patience(self):
        with mock.patch.object(server.Server, 'pid', return_value=42), \
                mock.patch('os.kill') as signal, mock.patch.object(server.Server, 'kill') as kill:
            self.server.power_off(0)
        signal.assert_not_called()
        kill.assert_called_once_with()

    def test_reboot_is_done_when_another_process_is_there(self):
        with mock.patch.object(server.Server, 'pid', side_effect=[42, 42, None, 43]), \
                mock.patch('os.kill') as signal:
            self.assertTrue(self.server.reboot(10))
        signal.assert_called_once_with(42, server.REBOOT)

    def test_reboot_of_a_server_that_does_not_run(self):
        self.assertFalse(self.server.reboot(10))


class UnitPropertiesTest(unittest.TestCase):
    def test_reboot_from_inside_starts_again_and_nothing_else_does(self):
        properties = server.Server('/srv', 'u' * 36)._unit_properties()
        self.assertIn('Restart=no', properties)
        self.assertIn('RestartForceExitStatus=129', properties)
        self.assertIn('SuccessExitStatus=129 130 137', properties)
