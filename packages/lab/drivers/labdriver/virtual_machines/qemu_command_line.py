"""Command line of qemu for one server, and its devices in the format of qemu's monitor.

For the same image properties, a guest sees the same machine as with Nova's libvirt driver:
SMBIOS names, buses of disks, config drive and network cards, serial numbers.
"""
import dataclasses
import json

PROGRAM = '/usr/bin/qemu-system-x86_64'
SYSTEM = ('type=1,manufacturer=OpenStack Foundation,product=OpenStack Nova,version=26.0.0,'
          'serial={uuid},uuid={uuid},family=Virtual Machine')
KVM, TCG = 'kvm', 'tcg'
# CPU features without which emulation in software (tcg) is faster. smap, smep and pku interrupt
# translated code at accesses to user memory. la57 adds a level of page tables. erms and fsrm make
# the kernel copy byte by byte. Without aes, TLS uses another cipher, which is faster than emulated
# aes.
SLOW_FEATURES = ('smap', 'smep', 'pku', 'la57', 'erms', 'fsrm', 'aes')
ACCELERATION = {KVM: ('-accel', 'kvm', '-cpu', 'host'),
                TCG: ('-accel', 'tcg,thread=multi',
                      '-cpu', ','.join(('max', *('-' + name for name in SLOW_FEATURES))))}
# With tcg, the kernel does not trust the time stamp counter by default. Reading another clock stops
# the emulated processors. Separate page tables for system calls (mitigations) are also slow.
KERNEL_OPTIONS = {KVM: '', TCG: ' tsc=reliable mitigations=off'}
# Nova's default command line for a kernel from an image.
COMMAND_LINE = 'root=/dev/vda1 ro console=tty0 console=ttyS0,115200'
DISK_BUSES = ('virtio', 'scsi')
CDROM_BUSES = ('ide', 'sata', 'scsi')
# PCIe ports of a q35 for disks and network cards. qemu creates the ports at its start. A running
# machine can add devices only to free ports.
DISK_PORTS, CARD_PORTS = 12, 4
# Disks ignore flushes, because no data outlives the lab.
CACHE = {'no-flush': True}


class HardwareError(Exception):
    """The image requires a machine that cannot be emulated. str() gives the reason."""


@dataclasses.dataclass(frozen=True)
class Hardware:
    """Files and devices of a server, from its image. disk, kernel, initrd: paths."""

    disk: str
    kernel: str
    initrd: str
    machine: str
    disk_bus: str
    cdrom_bus: str
    command_line: str

    @property
    def modern(self):
        """Return whether the machine is a q35: PCI Express and SATA."""
        return 'q35' in self.machine

    @property
    def scsi(self):
        """Return whether the machine has a SCSI controller."""
        return 'scsi' in (self.disk_bus, self.cdrom_bus)


def parse_hardware(files, properties):
    """Return the Hardware for Nova's image properties. files: disk, kernel, initrd."""
    machine = properties.get('hw_machine_type') or 'pc'
    disk_bus = properties.get('hw_disk_bus') or 'virtio'
    modern = 'q35' in machine
    cdrom_bus = properties.get('hw_cdrom_bus') or ('sata' if modern else 'ide')
    if not (modern or machine == 'pc' or machine.startswith('pc-i440fx')):
        raise HardwareError('hw_machine_type %s: pc and q35 can be emulated' % machine)
    if disk_bus not in DISK_BUSES:
        raise HardwareError('hw_disk_bus %s: virtio and scsi can be emulated' % disk_bus)
    if disk_bus == 'scsi' and properties.get('hw_scsi_model') != 'virtio-scsi':
        raise HardwareError('hw_disk_bus scsi needs hw_scsi_model virtio-scsi')
    if cdrom_bus not in CDROM_BUSES or (modern and cdrom_bus == 'ide'):
        raise HardwareError('hw_cdrom_bus %s: machine %s has no such bus' % (cdrom_bus, machine))
    return Hardware(*files, machine=machine, disk_bus=disk_bus, cdrom_bus=cdrom_bus,
                    command_line=properties.get('os_command_line') or COMMAND_LINE)


@dataclasses.dataclass(frozen=True)
class Machine:
    """Settings for the start of a server.

    path(name): path of a file in the server's directory. ports: network cards, each {'id',
    'mac', 'mtu', 'slot', 'tap'}. drive: whether there is a config drive.
    """

    uuid: str
    facts: dict
    hardware: Hardware
    path: object
    disks: tuple = ()
    ports: tuple = ()
    drive: bool = False


def get_arguments(machine, acceleration):
    hardware, facts, path = machine.hardware, machine.facts, machine.path
    words = [
        '-name', facts['hostname'], '-uuid', machine.uuid, '-machine', hardware.machine,
        '-nodefaults', '-no-user-config', '-display', 'none', *ACCELERATION[acceleration],
        '-smp', facts['vcpus'], '-m', facts['memory_mb'],
        '-smbios', SYSTEM.format(uuid=machine.uuid),
        '-kernel', hardware.kernel, '-initrd', hardware.initrd,
        '-append', hardware.command_line + KERNEL_OPTIONS[acceleration],
        '-chardev', 'file,id=console,append=on,path=' + path('console.log'),
        '-serial', 'chardev:console',
        '-qmp', 'unix:%s,server=on,wait=off' % path('monitor'), '-pidfile', path('pid')]
    for name, fields in list_devices(machine):
        words += ['-' + name, json.dumps(fields)]
    words += ['-device', 'virtio-rng-pci']
    # With -S, qemu does not execute the first instruction. Only tests have servers that do not
    # boot.
    return words if facts['boots'] else words + ['-S']


def list_devices(machine):
    """Yield (option, fields) of network cards, controllers and disks, in the order of their
    slots."""
    hardware = machine.hardware
    if hardware.modern:
        names = [port % number for port, count in (('card%d', CARD_PORTS), ('disk%d', DISK_PORTS))
                 for number in range(count)]
        for chassis, name in enumerate(names, start=1):
            yield 'device', {'driver': 'pcie-root-port', 'id': name, 'chassis': chassis}
    # Cards come before the other devices, which use any free slot.
    for port in machine.ports:
        yield 'netdev', get_netdev_fields(port)
        yield 'device', get_card_fields(hardware, port)
    if hardware.scsi:
        yield 'device', {'driver': 'virtio-scsi-pci', 'id': 'scsi'}
    if hardware.cdrom_bus == 'sata' and not hardware.modern:
        yield 'device', {'driver': 'ich9-ahci', 'id': 'sata'}
    yield 'blockdev', {'driver': 'qcow2', 'node-name': 'root', 'discard': 'unmap', 'cache': CACHE,
                       'file': {'driver': 'file', 'filename': machine.path('disk.qcow2'),
                                'cache': CACHE}}
    yield 'device', dict(get_disk_bus_fields(hardware, slot=0), drive='root', id='root')
    if machine.drive:
        yield 'blockdev', {'driver': 'file', 'node-name': 'config', 'read-only': True,
                           'filename': machine.path('config.iso')}
        yield 'device', dict(get_cdrom_bus_fields(hardware), drive='config', id='config')
    for disk in machine.disks:
        yield 'blockdev', get_blockdev_fields(disk)
        yield 'device', get_volume_device_fields(hardware, disk)


def get_disk_bus_fields(hardware, slot):
    """Return driver and bus of a disk. slot: 0 is the first disk."""
    if hardware.disk_bus == 'scsi':
        return {'driver': 'scsi-hd', 'bus': 'scsi.0'}
    driver = {'driver': 'virtio-blk-pci'}
    return dict(driver, bus='disk%d' % slot) if hardware.modern else driver


def get_cdrom_bus_fields(hardware):
    """Return driver and bus of the config drive, a CD-ROM."""
    if hardware.cdrom_bus == 'scsi':
        return {'driver': 'scsi-cd', 'bus': 'scsi.0'}
    # On a q35, qemu names the SATA ports ide.N, like the IDE buses of an i440fx.
    separate = hardware.cdrom_bus == 'sata' and not hardware.modern
    return {'driver': 'ide-cd', 'bus': 'sata.0' if separate else 'ide.0'}


def get_block_node_name(volume_id):
    """Return the name of a volume in qemu's block layer, which allows 31 characters."""
    return 'volume-' + volume_id[:20]


def get_volume_device_id(volume_id):
    return 'volume-' + volume_id


def get_blockdev_fields(disk):
    """Return a volume's fields for qemu's block layer."""
    return {'driver': 'host_device', 'node-name': get_block_node_name(disk.volume_id),
            'cache': CACHE, 'discard': 'unmap', 'filename': '/dev/loop%d' % disk.minor}


def get_volume_device_fields(hardware, disk):
    """Return a volume's device fields.

    The serial number is the volume's ID, as in Nova: virtio-blk shows 20 characters of it, SCSI
    all. Nova's device name (/dev/vdb) gives the slot.
    """
    slot = ord(disk.device[-1]) - ord('a')
    return dict(get_disk_bus_fields(hardware, slot), drive=get_block_node_name(disk.volume_id),
                id=get_volume_device_id(disk.volume_id), serial=disk.volume_id)


def get_card_id(port_id):
    """Return the name of a network card and of its backend."""
    return 'port-' + port_id


def get_netdev_fields(port):
    """Return the qemu backend that connects a network card to its tap."""
    return {'type': 'tap', 'id': get_card_id(port['id']), 'ifname': port['tap'], 'script': 'no',
            'downscript': 'no'}


def get_card_fields(hardware, port):
    """Return a network card. The first card of a PC is in slot 3, as with libvirt."""
    place = ({'bus': 'card%d' % port['slot']} if hardware.modern
             else {'addr': '0x%x' % (3 + port['slot'])})
    return dict(place, driver='virtio-net-pci', netdev=get_card_id(port['id']),
                id=get_card_id(port['id']), mac=port['mac'], host_mtu=port['mtu'])
