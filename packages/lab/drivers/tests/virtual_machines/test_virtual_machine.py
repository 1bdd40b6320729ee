"""A server as a virtual machine. The tests run the real qemu with stopped processors."""
import contextlib
import os
import signal
from unittest import mock

from labdriver import network
from labdriver.containers import server
from labdriver.containers.volumes import Disk
from labdriver.virtual_machines import qemu_command_line as qemu, qemu_monitor, virtual_machine
from tests.commands import PORT, CommandsTest
from tests.virtual_machines.blank_kernel import blank_kernel

UUID = '11111111-2222-3333-4444-555555555555'
VOLUME = 'aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee'
SCSI = {'hw_disk_bus': 'scsi', 'hw_scsi_model': 'virtio-scsi'}
# stub of `systemd-run OPTIONS PROGRAM ARGUMENTS`, which starts the program without a unit
START = '''while [ "$1" != %s ]; do shift; done
shift
"$QEMU" "$@" </dev/null >/dev/null 2>>"$ROOT/{0}/qemu.log" &
echo $! >"$ROOT/job"
'''.replace('%s', qemu.PROGRAM).replace('{0}', UUID)
# stub of `systemctl show` and `systemctl stop`, which waits until qemu has ended
STOP = '''if [ "$1" = show ] && kill -0 "$(cat "$ROOT/job")" 2>/dev/null; then echo active; fi
if [ "$1" = stop ] && [ -e "$ROOT/{0}/pid" ]; then
  kill "$(cat "$ROOT/{0}/pid")" 2>/dev/null
  while kill -0 "$(cat "$ROOT/{0}/pid")" 2>/dev/null; do sleep 0.05; done
fi
'''.format(UUID)


class MachineTest(CommandsTest):
    """A test with one virtual machine, which does not boot."""

    def setUp(self):
        super().setUp()
        self.stub('systemd-run', START)
        self.stub('systemctl', STOP)
        os.environ['QEMU'] = qemu.PROGRAM     # CommandsTest restores the environment
        for name, value in (('virtual_machines.acceleration.choose', lambda kernel: qemu.TCG),
                            ('network.plug_tap', mock.Mock()), ('network.unplug', mock.Mock()),
                            ('virtual_machines.qemu_command_line.get_netdev_fields', self.backend),
                            ('virtual_machines.qemu_command_line.get_blockdev_fields',
                             self.volume)):
            patch = mock.patch('labdriver.' + name, value)
            patch.start()
            self.addCleanup(patch.stop)
        self.files = tuple(self.directory + name for name in ('/image.qcow2', '/kernel', '/initrd'))
        virtual_machine.run('qemu-img', 'create', '-q', '-f', 'qcow2', self.files[0], '1G')
        blank_kernel(self.files[1])
        blank_kernel(self.files[2])
        self.addCleanup(self.end)

    def end(self):
        with contextlib.suppress(OSError, ValueError):
            with open(os.path.join(self.directory, UUID, 'pid'), encoding='ascii') as file:
                pid = int(file.read())
            if os.path.samefile('/proc/%d/exe' % pid, qemu.PROGRAM):
                os.kill(pid, signal.SIGKILL)

    def volume(self, disk):
        """Return a volume that is a plain file, because tests must not use the host's block
        devices."""
        path = os.path.join(self.directory, 'volume')
        if not os.path.exists(path):
            with open(path, 'wb') as file:
                file.truncate(1 << 20)
        return {'driver': 'file', 'node-name': qemu.get_block_node_name(disk.volume_id),
                'filename': path}

    @staticmethod
    def backend(port):
        """Return a network card of qemu's user network, because only root can use a tap."""
        return {'type': 'user', 'id': qemu.get_card_id(port['id'])}

    def made(self, properties=None, ports=()):
        """Return a created server that is not started yet."""
        made = virtual_machine.VirtualMachine(self.directory, UUID)
        made.create('labcloud-a', qemu.parse_hardware(self.files, properties or {}))
        made.unit = ''      # an empty name, so that pid() accepts any control group
        made.write_config_drive([('openstack/latest/meta_data.json', '{}')])
        made.configure('web', 256, 1, boots=False)
        for port in ports:
            made.plug(port, 'brq1')
        return made

    def started(self, properties=None):
        made = self.made(properties, [PORT, dict(PORT, id='f' * 16, mac='fa:16:3e:00:00:02')])
        made.start()
        return made

    def ask(self, made, command, **arguments):
        with qemu_monitor.QemuMonitor(made._path('monitor')) as ask:
            return ask(command, arguments)


class LifeTest(MachineTest):
    def test_qemu_takes_the_command_line_of_each_kind_of_machine(self):
        for properties in ({}, SCSI, {'hw_machine_type': 'q35'}, {'hw_cdrom_bus': 'sata'},
                           {'hw_machine_type': 'q35', 'hw_cdrom_bus': 'scsi'}):
            made = self.started(properties)
            self.assertEqual(self.ask(made, 'query-status')['status'], 'prelaunch')
            names = {one.get('inserted', {}).get('node-name')
                     for one in self.ask(made, 'query-block')}
            self.assertLessEqual({'root', 'config'}, names)
            made.kill()
            self.assertIsNone(made.pid())

    def test_what_qemu_says_is_told_when_it_does_not_start(self):
        made = self.made()
        os.unlink(self.files[1])
        with self.assertRaisesRegex(qemu_monitor.QemuMonitorError, 'does not start: .*/kernel'):
            made.start()

    def test_a_card_comes_while_it_runs(self):
        for properties in ({}, {'hw_machine_type': 'q35'}):
            made = self.started(properties)
            made.plug(dict(PORT, id='e' * 16, mac='fa:16:3e:00:00:03'), 'brq1')
            there = self.ask(made, 'qom-list', path='/machine/peripheral')
            self.assertIn('port-' + 'e' * 16, [one['name'] for one in there])
            made.kill()

    def test_the_disk_grows_to_the_flavor_and_never_shrinks(self):
        made = self.made()
        for gigabytes, expected in ((5, 5), (2, 5), (0, 5)):
            made.resize_disk(gigabytes)
            described = virtual_machine.run('qemu-img', 'info', made._path('disk.qcow2'))
            self.assertIn('(%d bytes)' % (expected << 30), described)

    def test_the_config_drive_has_the_label_and_nothing_of_it_stays_readable(self):
        made = self.made()
        described = virtual_machine.run('isoinfo', '-d', '-i', made._path('config.iso'))
        self.assertIn('config-2', described)
        self.assertFalse(os.path.exists(made._path('config-drive')))

    def test_power_off_without_patience_ends_it(self):
        made = self.started()
        made.power_off(0)
        self.assertIsNone(made.pid())

    def test_a_power_button_that_nothing_minds_does_not_keep_it_on(self):
        made = self.started()
        made.power_off(0.1)
        self.assertIsNone(made.pid())

    def test_reboot_says_when_the_guest_does_not_end(self):
        made = self.started()
        self.assertFalse(made.reboot(0.1))
        made.kill()
        self.assertFalse(made.reboot(10))

    def test_a_reboot_starts_it_again_when_the_guest_has_ended(self):
        made = self.started()
        first = made.pid()
        with mock.patch.object(made, '_press', lambda: os.kill(first, signal.SIGKILL)):
            self.assertTrue(made.reboot(10))
        self.assertEqual(len(self.calls('systemd-run')), 2)

    def test_each_kind_of_server_is_known_by_its_directory(self):
        self.made()
        self.assertIsInstance(virtual_machine.get_server(self.directory, UUID),
                              virtual_machine.VirtualMachine)
        self.assertNotIsInstance(virtual_machine.get_server(self.directory, 'other'),
                                 virtual_machine.VirtualMachine)
        self.assertEqual(server.list_owned_uuids(self.directory, 'labcloud-a'), [UUID])

    def test_process_of_another_is_not_the_server(self):
        made = self.made()
        made.unit = 'lab-srv-%s.service' % UUID
        made._write('pid', str(os.getpid()))     # a process that runs, but is not qemu
        self.assertIsNone(made.pid())


class DevicesTest(MachineTest):
    DISK = Disk('/dev/vdb', VOLUME, 7, 3)

    def test_a_volume_comes_grows_and_goes_while_it_runs(self):
        made = self.started(SCSI)
        made.attach(self.DISK)
        self.assertEqual(made.disks(), (self.DISK,))
        block, = [one for one in self.ask(made, 'query-block')
                  if one.get('inserted', {}).get('node-name') == qemu.get_block_node_name(VOLUME)]
        self.assertIn(VOLUME, block['qdev'])
        os.truncate(self.directory + '/volume', 2 << 20)
        made.extended(VOLUME, 2 << 20)
        made.detach(VOLUME)
        self.assertEqual(made.disks(), ())
        self.assertNotIn(qemu.get_block_node_name(VOLUME),
                         str(self.ask(made, 'query-named-block-nodes')))

    def test_a_volume_that_the_guest_does_not_let_go_stays(self):
        made = self.started()
        made.attach(self.DISK)
        with mock.patch('labdriver.virtual_machines.virtual_machine.DETACH_TIMEOUT', 0.2):
            with self.assertRaises(qemu_monitor.QemuMonitorError):
                made.detach(VOLUME)
        self.assertEqual(made.disks(), (self.DISK,))

    def test_a_volume_that_finds_no_place_leaves_nothing(self):
        made = self.started({'hw_machine_type': 'q35'})
        far = Disk('/dev/vdz', VOLUME, 7, 3)
        for _ in range(2):
            with self.assertRaisesRegex(qemu_monitor.QemuMonitorError, 'device_add'):
                made.attach(far)
        self.assertEqual(made.disks(), ())

    def test_volumes_of_a_server_that_is_off_are_there_when_it_starts(self):
        made = self.made()
        made.attach(self.DISK)
        made.start()
        self.assertIn(VOLUME, self.calls('systemd-run')[0])
        made.kill()
        made.detach(VOLUME)
        self.assertEqual(made.disks(), ())

    def test_cards_take_the_lowest_free_slot_and_keep_it(self):
        ports = [dict(PORT, id=name * 11) for name in 'abc']
        made = self.made(ports=ports)
        made.plug(ports[0], 'brq1')
        made.unplug(ports[1]['id'])
        made.plug(dict(PORT, id='d' * 11), 'brq1')
        self.assertEqual([(one['id'][0], one['slot']) for one in made._ports()],
                         [('a', 0), ('c', 2), ('d', 1)])
        network.unplug.assert_called_once_with('b' * 11)
