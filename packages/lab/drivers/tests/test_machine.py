"""Use of the host: commands, console, loop devices, shares, power."""
import os
import signal
import subprocess
import sys
import time
import unittest
from types import SimpleNamespace

from labdriver import (console, front, inventory, loop_devices, network, power_watch,
                       root_subvolumes, server, shell)
from tests.support import DirectoryTest


class ShellTest(unittest.TestCase):
    def test_output(self):
        self.assertEqual(shell.run('echo', 1, 'two'), '1 two\n')

    def test_unexpected_status_has_the_error_output(self):
        with self.assertRaisesRegex(shell.CommandError, 'status 3: reason') as caught:
            shell.run('sh', '-c', 'echo reason >&2; exit 3')
        self.assertEqual(caught.exception.status, 3)

    def test_expected_status(self):
        self.assertEqual(shell.run('sh', '-c', 'echo x; exit 3', ok=(0, 3)), 'x\n')

    def test_arguments_are_not_shell(self):
        self.assertEqual(shell.run('echo', '$(id); `id`'), '$(id); `id`\n')

    def test_succeeds(self):
        self.assertTrue(shell.succeeds('true'))
        self.assertFalse(shell.succeeds('false'))


class ConsoleTest(DirectoryTest):
    def setUp(self):
        super().setUp()
        self.log = os.path.join(self.directory, 'console.log')

    def start(self, *command):
        return subprocess.Popen([sys.executable, '-I', console.__file__, self.log, *command],
                                stdin=subprocess.DEVNULL)

    def text(self):
        with open(self.log, encoding='utf-8') as file:
            return file.read()

    def test_command_has_a_terminal(self):
        self.assertEqual(self.start('sh', '-c', 'test -t 0 && test -t 1 && echo yes').wait(10), 0)
        self.assertEqual(self.text(), 'yes\n')

    def test_status_is_the_one_of_the_command(self):
        self.assertEqual(self.start('sh', '-c', 'exit 129').wait(10), 129)
        self.assertEqual(self.start('sh', '-c', 'kill -KILL $$').wait(10), 137)

    def test_log_is_appended(self):
        for word in ('first', 'second'):
            self.start('echo', word).wait(10)
        self.assertEqual(self.text(), 'first\nsecond\n')

    def test_log_is_bounded(self):
        with open(self.log, 'wb') as file:
            file.truncate(console.LIMIT + 1)
        self.start('echo', 'fresh').wait(10)
        self.assertEqual(self.text(), 'fresh\n')

    def test_stop_signals_are_not_for_the_console(self):
        process = self.start('sh', '-c', 'echo up; sleep 1; echo down')
        deadline = time.monotonic() + 10
        while not os.path.exists(self.log) or 'up' not in self.text():
            self.assertLess(time.monotonic(), deadline, 'the command does not start')
            time.sleep(0.02)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(10), 0)
        self.assertIn('down', self.text())


class LoopDevicesTest(unittest.TestCase):
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
        self.assertEqual(loop_devices.minor('/dev/loop12'), 12)


class SubvolumesTest(unittest.TestCase):
    LISTING = ('ID 300 gen 9 top level 299 path nova/instances/u/rootfs/var/lib/portables\n'
               'ID 301 gen 9 top level 299 path nova/instances/u/rootfs/srv/a path b\n')

    def test_paths_are_relative_to_the_subvolume(self):
        names = root_subvolumes.names_below('nova/instances/u/rootfs', self.LISTING)
        self.assertEqual(names, ['var/lib/portables', 'srv/a path b'])

    def test_others_are_left_out(self):
        self.assertEqual(root_subvolumes.names_below('nova/instances/u/root', self.LISTING), [])
        self.assertEqual(root_subvolumes.names_below('x', ''), [])

    def test_deleting_what_is_not_there(self):
        root_subvolumes.delete('/nonexistent/subvolume')


class NetworkTest(unittest.TestCase):
    def test_tap_fits_into_a_device_name(self):
        name = network.tap_name('0123456789abcdef-0123')
        self.assertEqual(name, 'tap0123456789a')
        self.assertLess(len(name), 16)

    def test_first_free_device(self):
        for names, free in (((), 'eth0'), (('lo', 'eth0'), 'eth1'),
                            (('lo', 'eth0', 'eth2'), 'eth1'), (('eth1',), 'eth0')):
            self.assertEqual(network.free_device(set(names)), free)


class InventoryTest(unittest.TestCase):
    MEMINFO = 'MemTotal:       24000000 kB\nMemFree: 1 kB\nMemAvailable:   20000000 kB\n'
    DISK = SimpleNamespace(f_blocks=1 << 24, f_bavail=1 << 23, f_frsize=4096)

    def test_memory(self):
        self.assertEqual(inventory.memory_mb(self.MEMINFO), (23437, 19531))

    def test_two_hosts_have_half_each(self):
        self.assertEqual(inventory.share(4, self.MEMINFO, self.DISK, 2), {
            'vcpus': 2, 'memory_mb': 11718, 'memory_mb_used': 1953, 'local_gb': 32,
            'local_gb_used': 16})

    def test_every_host_has_a_cpu(self):
        self.assertEqual(inventory.share(1, self.MEMINFO, self.DISK, 2)['vcpus'], 1)

    def test_one_server_may_take_what_the_ratio_allows(self):
        self.assertEqual(inventory.placement(1, 16.0), {
            'total': 1, 'reserved': 0, 'min_unit': 1, 'max_unit': 16, 'step_size': 1,
            'allocation_ratio': 16.0})
        self.assertEqual(inventory.placement(1, 0.5)['max_unit'], 1)


class PowerWatchTest(unittest.TestCase):
    def setUp(self):
        self.watch = power_watch.PowerWatch()

    def changes(self, switched_on=False, **now):
        return self.watch.changes(now, lambda uuid: switched_on)

    def test_first_look_reports_nothing(self):
        self.assertEqual(self.changes(a=True, b=False), [])

    def test_changes_are_reported_once(self):
        self.changes(a=True, b=False)
        self.assertEqual(self.changes(a=False, b=True),
                         [('a', power_watch.STOPPED), ('b', power_watch.STARTED)])
        self.assertEqual(self.changes(a=False, b=True), [])

    def test_reboot_from_inside_is_no_stop(self):
        self.changes(a=True)
        self.assertEqual(self.changes(switched_on=True, a=False), [])
        self.assertEqual(self.changes(a=True), [])

    def test_server_that_is_first_seen_while_it_starts_runs(self):
        self.changes(switched_on=True, a=False)
        self.assertEqual(self.changes(switched_on=True, a=False), [], 'runc takes its time')
        self.assertEqual(self.changes(switched_on=True, a=True), [])

    def test_start_that_fails_is_a_stop(self):
        self.changes(switched_on=True, a=False)
        self.assertEqual(self.changes(a=False), [('a', power_watch.STOPPED)])

    def test_restart_that_does_not_come_is_a_stop(self):
        self.changes(a=True)
        self.changes(switched_on=True, a=False)
        self.assertEqual(self.changes(a=False), [('a', power_watch.STOPPED)])

    def test_deleted_servers_are_forgotten(self):
        self.changes(a=True)
        self.assertEqual(self.changes(), [])
        self.assertEqual(self.changes(a=False), [])

    def test_systemd_is_asked_only_about_what_stopped(self):
        self.changes(a=True, b=False)
        asked = []
        self.watch.changes({'a': True, 'b': False}, asked.append)
        self.assertEqual(asked, [])


class StatisticsTest(unittest.TestCase):
    def test_columns_have_names(self):
        rows = front.parse_statistics('# pxname,svname,status,\nweb,FRONTEND,OPEN,\n'
                                      'pool,m1,UP,\n\n')
        self.assertEqual([(row['pxname'], row['svname'], row['status']) for row in rows],
                         [('web', 'FRONTEND', 'OPEN'), ('pool', 'm1', 'UP')])


class UnitTest(unittest.TestCase):
    def test_reboot_from_inside_starts_again_and_nothing_else_does(self):
        properties = server.Server('/srv', 'u' * 36)._unit_properties()
        self.assertIn('Restart=no', properties)
        self.assertIn('RestartForceExitStatus=129', properties)
        self.assertIn('SuccessExitStatus=129 130 137', properties)
