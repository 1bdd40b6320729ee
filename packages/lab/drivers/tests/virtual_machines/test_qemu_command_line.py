"""The command line of qemu."""
import json
import unittest

from labdriver.containers.volumes import Disk
from labdriver.virtual_machines import qemu_command_line as qemu

FILES = ('/disk', '/kernel', '/initrd')
VOLUME = 'aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee'
Q35 = {'hw_machine_type': 'q35'}
SCSI = {'hw_disk_bus': 'scsi', 'hw_scsi_model': 'virtio-scsi'}
PORT = {'id': '0123456789abcdef', 'mac': 'fa:16:3e:00:00:01', 'mtu': 1350, 'slot': 0,
        'tap': 'tap0123456789a'}


def machine(properties, boots=True):
    """Return a server with one volume, one port and a config drive."""
    return qemu.Machine(
        uuid='11111111-2222-3333-4444-555555555555',
        hardware=qemu.parse_hardware(FILES, properties),
        facts={'hostname': 'web', 'vcpus': 2, 'memory_mb': 2048, 'boots': boots},
        path='/server/{}'.format, disks=(Disk('/dev/vdc', VOLUME, 7, 3),), ports=(PORT,),
        drive=True)


def device(properties, **wanted):
    """Return the command line's device with these fields."""
    words = [word for word in qemu.get_arguments(machine(properties), qemu.TCG)
             if str(word).startswith('{')]
    found, = [fields for fields in map(json.loads, words) if wanted.items() <= fields.items()]
    return found


class HardwareTest(unittest.TestCase):
    def test_an_image_that_asks_for_nothing_gets_novas_defaults(self):
        made = qemu.parse_hardware(FILES, {})
        self.assertEqual((made.machine, made.disk_bus, made.cdrom_bus), ('pc', 'virtio', 'ide'))
        self.assertEqual((made.disk, made.kernel, made.initrd), FILES)
        self.assertIn('root=/dev/vda1', made.command_line)

    def test_a_q35_has_its_config_drive_on_sata_as_nova_gives_it(self):
        self.assertEqual(qemu.parse_hardware(FILES, Q35).cdrom_bus, 'sata')
        self.assertEqual(qemu.parse_hardware(FILES, {'hw_machine_type': 'pc-q35-7.2'}).cdrom_bus,
                         'sata')

    def test_versions_of_a_machine_type_are_known(self):
        self.assertEqual(qemu.parse_hardware(FILES, {'hw_machine_type': 'pc-i440fx-7.2'}).cdrom_bus,
                         'ide')

    def test_what_cannot_be_emulated_is_refused_by_name(self):
        for properties, message in (
                ({'hw_machine_type': 'virt'}, 'hw_machine_type virt'),
                ({'hw_disk_bus': 'sata'}, 'hw_disk_bus sata'),
                ({'hw_disk_bus': 'scsi'}, 'needs hw_scsi_model virtio-scsi'),
                ({'hw_cdrom_bus': 'usb'}, 'hw_cdrom_bus usb'),
                ({'hw_cdrom_bus': 'ide', **Q35}, 'hw_cdrom_bus ide: machine q35')):
            with self.assertRaisesRegex(qemu.HardwareError, message):
                qemu.parse_hardware(FILES, properties)


class ArgumentsTest(unittest.TestCase):
    def kernel_options(self, properties, acceleration):
        words = qemu.get_arguments(machine(properties), acceleration)
        return words[words.index('-append') + 1]

    def test_the_kernel_gets_the_images_command_line(self):
        properties = {'os_command_line': 'root=LABEL=root ro'}
        self.assertEqual(self.kernel_options(properties, qemu.KVM), 'root=LABEL=root ro')

    def test_an_emulated_clock_is_trusted_and_only_that_one(self):
        self.assertIn('tsc=reliable', self.kernel_options({}, qemu.TCG))
        self.assertNotIn('tsc=reliable', self.kernel_options({}, qemu.KVM))

    def test_a_server_that_a_test_keeps_from_booting_does_not_run(self):
        self.assertIn('-S', qemu.get_arguments(machine({}, boots=False), qemu.TCG))
        self.assertNotIn('-S', qemu.get_arguments(machine({}), qemu.TCG))

    def test_it_says_that_it_is_openstack(self):
        words = qemu.get_arguments(machine({}), qemu.TCG)
        self.assertIn('product=OpenStack Nova', words[words.index('-smbios') + 1])

    def test_the_serial_number_of_a_volume_is_its_id(self):
        for properties, driver in (({}, 'virtio-blk-pci'), (SCSI, 'scsi-hd')):
            self.assertEqual(device(properties, serial=VOLUME)['driver'], driver)

    def test_names_in_the_block_layer_fit(self):
        self.assertLessEqual(len(qemu.get_block_node_name(VOLUME)), 31)

    def test_the_config_drive_is_a_cdrom_on_the_bus_of_the_machine(self):
        for properties, driver, bus in (
                ({}, 'ide-cd', 'ide.0'), (Q35, 'ide-cd', 'ide.0'),
                ({'hw_cdrom_bus': 'sata'}, 'ide-cd', 'sata.0'),
                ({'hw_cdrom_bus': 'scsi', **Q35}, 'scsi-cd', 'scsi.0')):
            found = device(properties, drive='config')
            self.assertEqual((found['driver'], found['bus']), (driver, bus))

    def test_cards_have_the_address_and_the_mtu_of_their_port(self):
        found = device({}, driver='virtio-net-pci')
        self.assertEqual((found['mac'], found['host_mtu']), (PORT['mac'], 1350))
        self.assertEqual(device({}, type='tap')['ifname'], PORT['tap'])

    def test_each_device_of_a_q35_that_may_come_and_go_has_a_port(self):
        ports = [fields['id'] for name, fields in qemu.list_devices(machine(Q35))
                 if fields.get('driver') == 'pcie-root-port']
        self.assertEqual(len(ports), len(set(ports)))
        self.assertIn(device(Q35, driver='virtio-net-pci')['bus'], ports)
        self.assertEqual(device(Q35, serial=VOLUME)['bus'], 'disk2')
        self.assertEqual(device(Q35, drive='root')['bus'], 'disk0')
