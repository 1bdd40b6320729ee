"""The Nova driver, with Nova replaced by stubs."""
import os

from tests.compute.nova_stubs import VOLUME, NovaTest, VirtApi


class SpawnTest(NovaTest):
    def test_server_is_made_and_started(self):
        self.spawn()
        self.server.create.assert_called_once_with('labcloud-a',
                                                   self.driver.images.ensure.return_value)
        self.server.plug.assert_called_once_with(
            {'id': 'port', 'mac': 'fa:16:3e:00:00:01', 'mtu': 1350}, 'brq1', 'eth0')
        self.server.configure.assert_called_once_with('web', 512, 1, True)
        self.server.start.assert_called_once_with()

    def test_waits_for_ports_that_are_not_active(self):
        self.vifs.append(dict(self.vifs[0], id='active', active=True))
        self.spawn()
        self.assertEqual(self.driver.virtapi.names, [('network-vif-plugged', 'port')])

    def test_config_drive_when_asked_for(self):
        self.nova.configdrive.required_by.return_value = True
        self.spawn()
        self.server.write_config_drive.assert_called_once()

    def test_stopped_server(self):
        self.spawn(power_on=False)
        self.server.start.assert_not_called()

    def test_a_port_that_is_not_plugged_is_reported_and_nothing_is_left(self):
        self.driver.virtapi = VirtApi(late=True)
        with self.assertRaises(self.nova.exception.VirtualInterfaceCreateException):
            self.spawn()
        self.server.delete_disk.assert_called_once_with()
        self.server.remove_network.assert_called_once_with()
        self.network.unplug.assert_called_once_with('port')

    def test_a_port_that_is_not_plugged_may_be_tolerated(self):
        self.driver.virtapi = VirtApi(late=True)
        self.nova.CONF.vif_plugging_is_fatal = False
        self.spawn()
        self.server.start.assert_called_once_with()

    def test_other_failures_are_not_tried_elsewhere_and_keep_their_reason(self):
        self.server.create.side_effect = OSError('the disk is full')
        with self.assertRaises(self.nova.exception.BuildAbortException) as caught:
            self.spawn()
        self.assertEqual(caught.exception.facts['reason'], 'the disk is full')
        self.server.kill.assert_called_once_with()
        self.server.delete_disk.assert_called_once_with()

    def test_server_without_image_is_refused(self):
        self.image.id = ''
        with self.assertRaises(self.nova.exception.BuildAbortException) as caught:
            self.spawn()
        self.assertIn('boots from nothing', caught.exception.facts['reason'])

    def test_fault_error(self):
        self.ask_fault('error')
        with self.assertRaises(self.nova.exception.BuildAbortException) as caught:
            self.spawn()
        self.assertIn('fault injected', caught.exception.facts['reason'])
        os.unlink(self.directory + '/faults/web')
        self.spawn()
        self.server.start.assert_called_once_with()

    def test_fault_no_boot(self):
        self.ask_fault('no-boot')
        self.spawn()
        self.server.configure.assert_called_once_with('web', 512, 1, False)
        self.server.start.assert_called_once_with()


class LifeTest(NovaTest):
    VOLUMES = {'block_device_mapping': [{
        'mount_device': '/dev/vdb',
        'connection_info': {'data': {'path': '/v/1', 'volume_id': VOLUME}}}]}

    def test_destroy_releases_everything(self):
        self.driver.destroy(None, self.instance, self.vifs, self.VOLUMES)
        self.server.kill.assert_called_once_with()
        self.detached.assert_called_once_with('/v/1')
        self.server.delete_disk.assert_called_once_with()

    def test_reverted_resize_keeps_the_disk(self):
        self.driver.destroy(None, self.instance, self.vifs, destroy_disks=False)
        self.server.delete_disk.assert_not_called()

    def test_disk_is_seen_by_both_hosts(self):
        self.server.directory = self.directory
        data = self.driver.check_instance_shared_storage_local(None, self.instance)
        self.assertTrue(self.driver.check_instance_shared_storage_remote(None, data))

    def test_power_on_sets_the_volumes_that_nova_names(self):
        self.server.pid.return_value = None
        self.driver.power_on(None, self.instance, self.vifs, self.VOLUMES)
        disk, = self.server.set_disks.call_args.args[0]
        self.assertEqual((disk.device, disk.volume_id, disk.major, disk.minor),
                         ('/dev/vdb', VOLUME, 7, 3))
        self.server.start.assert_called_once_with()

    def test_power_on_of_a_running_server_does_nothing(self):
        self.server.pid.return_value = 42
        self.driver.power_on(None, self.instance, self.vifs)
        self.server.start.assert_not_called()

    def test_soft_reboot_that_works(self):
        self.server.reboot.return_value = True
        self.driver.reboot(None, self.instance, self.vifs, 'SOFT')
        self.server.kill.assert_not_called()

    def test_soft_reboot_that_does_not_becomes_a_hard_one(self):
        self.server.reboot.return_value = False
        self.server.pid.return_value = None
        self.driver.reboot(None, self.instance, self.vifs, 'SOFT')
        self.server.kill.assert_called_once_with()
        self.server.start.assert_called_once_with()

    def test_hard_reboot_does_not_ask_init(self):
        self.server.pid.return_value = None
        self.driver.reboot(None, self.instance, self.vifs, 'HARD')
        self.server.reboot.assert_not_called()

    def test_resize_gives_the_server_to_this_host(self):
        self.server.pid.return_value = None
        self.driver.finish_migration(None, None, self.instance, '', self.vifs, None, True, {})
        self.server.own.assert_called_once_with('labcloud-a')
        self.server.start.assert_called_once_with()

    def test_info(self):
        for pid, on, state in ((42, True, 'running'), (None, True, 'running'),
                               (None, False, 'shutdown')):
            self.server.pid.return_value = pid
            self.server.switched_on.return_value = on
            self.assertEqual(self.driver.get_info(self.instance), state)
        self.server.exists.return_value = False
        with self.assertRaises(self.nova.exception.InstanceNotFound):
            self.driver.get_info(self.instance)

    def test_ports_are_bound_to_the_host_of_the_agent(self):
        self.assertEqual(self.driver.network_binding_host_id(None, self.instance), 'labcloud')
        self.assertTrue(self.driver.manages_network_binding_host_id())

    def test_volumes(self):
        connection = self.VOLUMES['block_device_mapping'][0]['connection_info']
        self.driver.attach_volume(None, connection, self.instance, '/dev/vdb')
        self.assertEqual(self.server.attach.call_args.args[0].device, '/dev/vdb')
        self.driver.detach_volume(None, connection, self.instance, '/dev/vdb')
        self.server.detach.assert_called_once_with(VOLUME)
        self.detached.assert_called_once_with('/v/1')
