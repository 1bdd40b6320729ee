"""One server as a virtual machine: qemu, for an image of format qcow2.

Such a server has its own kernel, with modules, udev, kernel settings and control groups of
version 2. The image's properties kernel_id and ramdisk_id are the Glance IDs of kernel and initrd,
which qemu loads. In the server's directory, other files replace those of a system container:
machine.json (qemu.Hardware), ports.json, disk.qcow2 (an overlay of the image's disk), config.iso
and the monitor's socket.
"""
import dataclasses
import json
import os
import shutil

from labdriver import network
from labdriver.containers import config_drive, volumes
from labdriver.containers.server import Server
from labdriver.shell import ANY_STATUS, run
from labdriver.virtual_machines import acceleration, qemu_command_line as qemu
from labdriver.virtual_machines.qemu_monitor import QemuMonitor, QemuMonitorError

FORMAT = 'qcow2'
# Time limit in seconds. A guest releases a volume within one second; on busy emulated processors,
# within several seconds.
DETACH_TIMEOUT = 60
# Time limit in seconds. qemu opens its files and devices in less than one second, but needs longer
# on a busy host.
START_TIMEOUT = 60


def get_server(instances, uuid):
    """Return the server with this UUID. The files in its directory determine its class."""
    emulated = os.path.exists(os.path.join(instances, uuid, 'machine.json'))
    return (VirtualMachine if emulated else Server)(instances, uuid)


class VirtualMachine(Server):
    """Names, paths and actions of one server, with the same interface as a system container."""

    # Time limit in seconds. An emulated kernel needs a minute to stop a cluster's services.
    reboot_timeout = 180

    # -- directory

    def create(self, owner, hardware):
        """Create the disk, an overlay of the image's disk. Delete remains of an earlier attempt."""
        self.delete_disk()
        os.makedirs(self.directory)
        self._write('machine.json', json.dumps(dataclasses.asdict(hardware)))
        run('qemu-img', 'create', '-q', '-f', FORMAT, '-b', hardware.disk, '-F', FORMAT,
            self._path('disk.qcow2'))
        self.own(owner)

    def resize_disk(self, gigabytes):
        """Grow the disk to the flavor's size while the server is off. The disk never shrinks."""
        described = json.loads(run('qemu-img', 'info', '--output=json', self._path('disk.qcow2')))
        if gigabytes << 30 > described['virtual-size']:
            run('qemu-img', 'resize', '-q', self._path('disk.qcow2'), '%dG' % gigabytes)

    def write_config_drive(self, files):
        """Create a CD-ROM labelled config-2 from (path, content) pairs."""
        tree = self._path('config-drive')
        config_drive.write(tree, files)
        run('genisoimage', '-quiet', '-J', '-r', '-V', 'config-2', '-l', '-ldots',
            '-allow-lowercase', '-allow-multidot', '-o', self._path('config.iso'), tree)
        shutil.rmtree(tree)

    # -- configuration

    def hardware(self):
        """Return the hardware settings from the image."""
        return qemu.Hardware(**json.loads(self._read('machine.json')))

    def set_disks(self, disks):
        """Set the volumes that the server has at its start."""
        self._write('disks.json', json.dumps([dataclasses.asdict(disk) for disk in disks]))

    def attach(self, disk):
        """Attach a volume: immediately if the server runs, otherwise at the next start."""
        if self.pid():
            with QemuMonitor(self._path('monitor')) as ask:
                ask('blockdev-add', qemu.get_blockdev_fields(disk))
                try:
                    ask('device_add', qemu.get_volume_device_fields(self.hardware(), disk))
                except QemuMonitorError:
                    ask('blockdev-del', {'node-name': qemu.get_block_node_name(disk.volume_id)})
                    raise
        self.set_disks(volumes.add(self.disks(), disk))

    def detach(self, volume_id):
        """Detach a volume. Raise QemuMonitorError if the running server does not release it."""
        if self.pid():
            with QemuMonitor(self._path('monitor')) as ask:
                self._unplug(ask, qemu.get_volume_device_id(volume_id))
                ask('blockdev-del', {'node-name': qemu.get_block_node_name(volume_id)})
        self.set_disks(volumes.remove(self.disks(), volume_id=volume_id))

    def extended(self, volume_id, size):
        """Tell the server the new size of a volume, in bytes."""
        if self.pid():
            with QemuMonitor(self._path('monitor')) as ask:
                ask('block_resize', {'node-name': qemu.get_block_node_name(volume_id),
                                     'size': size})

    @staticmethod
    def _unplug(ask, device):
        ask('device_del', {'id': device})
        ask.await_event('DEVICE_DELETED', device, DETACH_TIMEOUT)

    # -- life

    def pid(self):
        """Return the process ID of qemu, or None if qemu does not run."""
        try:
            pid = int(self._read('pid') or 0)
            with open('/proc/%d/cgroup' % pid, encoding='utf-8') as groups:
                return pid if self.unit in groups.read() else None
        except (OSError, ValueError):
            return None

    def start(self):
        """Start qemu. The first serial port writes to the console log.

        Raise QemuMonitorError if qemu exits.
        """
        self.kill()
        log = self._path('qemu.log')
        self._write('qemu.log', '')
        hardware = self.hardware()
        drive = os.path.exists(self._path('config.iso'))
        machine = qemu.Machine(
            uuid=self.uuid, facts=json.loads(self._read('server.json')), hardware=hardware,
            path=self._path, disks=self.disks(), ports=tuple(self._ports()), drive=drive)
        # Gives the server more CPU weight than one process of an OpenStack service.
        run('systemd-run', '--quiet', '--collect', '--unit', self.unit,
            '-p', 'Description=server %s' % self.uuid, '-p', 'OOMScoreAdjust=0',
            '-p', 'KillMode=mixed', '-p', 'TimeoutStopSec=10', '-p', 'CPUWeight=400',
            '-p', 'StandardError=append:' + log,
            qemu.PROGRAM, *qemu.get_arguments(machine, acceleration.choose(hardware.kernel)))
        self._wait(lambda: self._answers() or not self.switched_on(), START_TIMEOUT)
        if not self._answers():
            raise QemuMonitorError('qemu does not start: %s' % self._read('qemu.log'))

    def _answers(self):
        """Return whether the monitor answers. qemu answers only after it has created all
        devices."""
        try:
            with QemuMonitor(self._path('monitor'), patience=0) as ask:
                return bool(ask('query-status'))
        except QemuMonitorError:
            return False

    def kill(self):
        """Switch the server off without a shutdown, as in a power failure."""
        run('systemctl', 'stop', self.unit, ok=ANY_STATUS)
        run('systemctl', 'reset-failed', self.unit, ok=ANY_STATUS)

    def power_off(self, timeout):
        """Press the power button. After timeout seconds, switch the server off without a
        shutdown."""
        if self.pid() and timeout:
            self._press()
            self._wait(lambda: not self.pid(), timeout)
        self.kill()

    def reboot(self, timeout):
        """Shut down and start again. Return False if this takes more than timeout seconds."""
        if not self.pid():
            return False
        self._press()
        if not self._wait(lambda: not self.pid(), timeout):
            return False
        self.start()
        return True

    def _press(self):
        try:
            with QemuMonitor(self._path('monitor')) as ask:
                ask('system_powerdown')
        except (OSError, QemuMonitorError):
            if self.pid():
                raise

    # -- network

    def _ports(self):
        return json.loads(self._read('ports.json') or '[]')

    def plug(self, port, bridge, device=None):
        """Connect the server to a port: immediately if it runs, otherwise at the next start.

        The server's kernel chooses the device name, so `device` is ignored.
        """
        network.plug_tap(port, bridge)
        ports = self._ports()
        if any(one['id'] == port['id'] for one in ports):
            return
        taken = {one['slot'] for one in ports}
        slot = next(number for number in range(len(ports) + 1) if number not in taken)
        added = dict(port, slot=slot, tap=network.get_tap_name(port['id']))
        if self.pid():
            with QemuMonitor(self._path('monitor')) as ask:
                ask('netdev_add', qemu.get_netdev_fields(added))
                # Use any free slot, because a disk may be in the slot that the card gets at the
                # next start.
                fields = qemu.get_card_fields(self.hardware(), added)
                fields.pop('addr', None)
                ask('device_add', fields)
        self._write('ports.json', json.dumps(ports + [added]))

    def unplug(self, port_id):
        """Disconnect a port: immediately if the server runs, otherwise at the next start."""
        if self.pid():
            with QemuMonitor(self._path('monitor')) as ask:
                self._unplug(ask, qemu.get_card_id(port_id))
                ask('netdev_del', {'id': qemu.get_card_id(port_id)})
        self._write('ports.json', json.dumps(
            [one for one in self._ports() if one['id'] != port_id]))
        network.unplug(port_id)

    def ensure_network(self):
        """Do nothing, because a virtual machine needs no network namespace."""

    def remove_network(self):
        """Do nothing, because a virtual machine has no network namespace."""
