"""The Nova driver with an image that makes virtual machines."""
from unittest import mock

from labdriver.containers.server import Server
from labdriver.virtual_machines import virtual_machine
from tests.compute.nova_stubs import VOLUME, NovaTest, image_meta


class VirtualMachineTest(NovaTest):
    def setUp(self):
        super().setUp()
        self.server.mock_add_spec(virtual_machine.VirtualMachine)
        self.instance.image_meta = image_meta('qcow2', hw_machine_type='q35')
        self.instance.kernel_id, self.instance.ramdisk_id = 'kernel', 'initrd'
        self.driver.files = mock.Mock(ensure=lambda image_id, fetch: '/files/' + image_id)

    def test_the_image_decides_which_kind_of_server_it_is(self):
        find = type(self.driver)._server
        for disk_format, kind in (('qcow2', virtual_machine.VirtualMachine), ('raw', Server),
                                  (None, Server)):
            self.instance.image_meta = image_meta(disk_format)
            self.assertIs(type(find(self.driver, self.instance)), kind)

    def test_a_server_is_made_of_files_and_of_what_the_image_asks_for(self):
        self.spawn()
        made = self.server.create.call_args.args[1]
        self.assertEqual((made.disk, made.kernel, made.initrd),
                         ('/files/image', '/files/kernel', '/files/initrd'))
        self.assertTrue(made.modern)
        self.driver.images.ensure.assert_not_called()

    def test_the_files_come_from_glance(self):
        self.driver.files.ensure = lambda image_id, fetch: fetch('/files/%s.part' % image_id)
        self.spawn()
        wanted = [(call.args[1], call.kwargs['dest_path'])
                  for call in self.nova.glance.API().download.call_args_list]
        self.assertEqual(wanted, [(name, '/files/%s.part' % name)
                                  for name in ('image', 'kernel', 'initrd')])

    def test_an_image_without_its_kernel_is_refused(self):
        self.instance.ramdisk_id = ''
        with self.assertRaises(self.nova.exception.BuildAbortException) as caught:
            self.spawn()
        self.assertIn('no properties kernel_id and ramdisk_id', caught.exception.facts['reason'])

    def test_an_image_that_asks_for_too_much_is_refused(self):
        self.instance.image_meta = image_meta('qcow2', hw_disk_bus='fdc')
        with self.assertRaises(self.nova.exception.BuildAbortException) as caught:
            self.spawn()
        self.assertIn('hw_disk_bus fdc', caught.exception.facts['reason'])

    def test_the_disk_has_the_size_of_the_flavor_before_it_starts(self):
        self.spawn()
        calls = [name for name, *_ in self.server.method_calls]
        self.server.resize_disk.assert_called_once_with(5)
        self.assertLess(calls.index('resize_disk'), calls.index('start'))

    def test_a_soft_reboot_has_the_time_that_an_emulated_kernel_takes(self):
        self.server.reboot_timeout = virtual_machine.VirtualMachine.reboot_timeout
        self.driver.reboot(None, self.instance, self.vifs, 'SOFT')
        self.server.reboot.assert_called_once_with(180)

    def test_a_volume_that_grew_is_told_to_the_server(self):
        with mock.patch('labdriver.block_storage.loop_devices.grow'):
            self.driver.extend_volume(None, {'data': {'path': '/v/1', 'volume_id': VOLUME}},
                                      self.instance, 2 << 30)
        self.server.extended.assert_called_once_with(VOLUME, 2 << 30)

    def test_glance_may_give_it_such_images(self):
        self.assertTrue(self.driver.capabilities['supports_image_type_qcow2'])
