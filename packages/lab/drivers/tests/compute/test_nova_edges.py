"""The Nova driver with missing inputs, partial failures and repeated calls."""
from types import SimpleNamespace
from unittest import mock

from tests.compute.nova_stubs import VOLUME, Network, NovaTest

VOLUMES = {'block_device_mapping': [
    {'mount_device': '/dev/vd' + letter,
     'connection_info': {'data': {'path': '/v/' + letter, 'volume_id': letter + VOLUME[1:]}}}
    for letter in 'bc']}


class HalfDoneSpawnTest(NovaTest):
    def test_whatever_step_fails_nothing_of_the_server_is_left(self):
        steps = (self.server.plug, self.server.create, self.server.configure, self.server.start,
                 self.driver.images.ensure)
        for step in steps:
            step.side_effect = OSError('broken')
            with self.assertRaises(self.nova.exception.BuildAbortException):
                self.spawn(block_device_info=VOLUMES)
            step.side_effect = None
            for cleaned in (self.server.kill, self.server.delete_disk,
                            self.server.remove_network):
                cleaned.assert_called_once_with()
                cleaned.reset_mock()
            self.assertEqual([call.args for call in self.detached.call_args_list],
                             [('/v/b',), ('/v/c',)])
            self.detached.reset_mock()

    def test_novas_own_errors_keep_their_kind_so_that_nova_may_try_another_host(self):
        error = self.nova.exception.InstanceNotFound(instance_id='web')
        self.driver.images.ensure.side_effect = error
        with self.assertRaises(self.nova.exception.InstanceNotFound):
            self.spawn()
        self.server.delete_disk.assert_called_once_with()

    def test_a_server_does_not_start_before_its_ports_are_plugged(self):
        self.driver.virtapi.late = True
        with self.assertRaises(self.nova.exception.VirtualInterfaceCreateException):
            self.spawn()
        self.server.start.assert_not_called()
        self.server.configure.assert_not_called()

    def test_nobody_is_waited_for_without_a_timeout(self):
        self.nova.CONF.vif_plugging_timeout = 0
        self.spawn()
        self.assertEqual(self.driver.virtapi.names, [])

    def test_an_image_without_an_id_set_is_refused_before_anything_is_made(self):
        self.image.obj_attr_is_set = lambda name: False
        with self.assertRaises(self.nova.exception.BuildAbortException):
            self.spawn()
        self.server.create.assert_not_called()
        self.server.plug.assert_not_called()

    def boot_from_volume(self, **volume):
        """Spawn a server from a boot volume (fields of Cinder's volume), with a second volume
        attached."""
        self.image.id = ''
        self.nova.cinder.API.return_value.get.return_value = volume
        mappings = [{'boot_index': index, 'mount_device': device,
                     'connection_info': {'data': {'path': '/v', 'volume_id': name}}}
                    for index, device, name in ((None, '/dev/vdb', 'other'),
                                                (0, '/dev/vda', VOLUME))]
        self.spawn(block_device_info={'block_device_mapping': mappings})

    def test_server_that_boots_from_a_volume_has_the_image_of_the_volume(self):
        self.boot_from_volume(volume_image_metadata={'image_id': 'image of the volume'})
        self.nova.cinder.API.return_value.get.assert_called_once_with(None, VOLUME)
        self.assertEqual(self.driver.images.ensure.call_args[0][0], 'image of the volume')
        disks, = self.server.set_disks.call_args[0]
        self.assertEqual([disk.device for disk in disks], ['/dev/vdb', '/dev/vda'])

    def test_server_does_not_boot_from_a_volume_without_an_image(self):
        with self.assertRaises(self.nova.exception.BuildAbortException) as caught:
            self.boot_from_volume()
        self.assertIn('boots from nothing', caught.exception.facts['reason'])

    def test_an_unknown_fault_fails_the_spawn_and_names_itself(self):
        self.ask_fault('explode')
        with self.assertRaises(self.nova.exception.BuildAbortException) as caught:
            self.spawn()
        self.assertIn('explode', caught.exception.facts['reason'])

    def test_the_image_is_fetched_from_glance_to_where_the_store_wants_it(self):
        self.spawn()
        image_id, fetch = self.driver.images.ensure.call_args.args
        fetch('/srv/part')
        self.nova.glance.API().download.assert_called_once_with(None, image_id,
                                                                dest_path='/srv/part')

    def test_the_password_reaches_the_config_drive_only_when_there_is_one(self):
        self.nova.configdrive.required_by.return_value = True
        for password, extra in (('word', {'admin_pass': 'word'}), (None, {})):
            self.driver.spawn(None, self.instance, self.image, [], password, {},
                              network_info=self.vifs)
            made = self.nova.instance_metadata.InstanceMetadata.call_args
            self.assertEqual(made.kwargs['extra_md'], extra)


class PortTest(NovaTest):
    def test_ports_keep_the_order_that_nova_gives_them(self):
        self.vifs.append(dict(self.vifs[0], id='second',
                              network=Network(bridge='brq2', mtu=1350)))
        self.driver.plug_vifs(self.instance, self.vifs)
        self.assertEqual([(call.args[0]['id'], call.args[1:])
                          for call in self.server.plug.call_args_list],
                         [('port', ('brq1', 'eth0')), ('second', ('brq2', 'eth1'))])

    def test_a_network_without_mtu_gets_the_labs(self):
        self.vifs[0]['network'] = Network(bridge='brq1', mtu=None)
        self.driver.plug_vifs(self.instance, self.vifs)
        self.assertEqual(self.server.plug.call_args.args[0]['mtu'], 1400)

    def test_an_attached_interface_gets_the_next_name_and_is_taken_away_by_its_port(self):
        self.driver.attach_interface(None, self.instance, None, self.vifs[0])
        self.assertEqual(len(self.server.plug.call_args.args), 2, 'no device is named')
        self.driver.detach_interface(None, self.instance, self.vifs[0])
        self.server.unplug.assert_called_once_with('port')

    def test_a_server_without_any_network_info_can_be_destroyed(self):
        self.driver.destroy(None, self.instance, None)
        self.network.unplug.assert_not_called()
        self.server.remove_network.assert_called_once_with()

    def test_a_resize_keeps_the_network_when_nova_says_so(self):
        self.driver.cleanup(None, self.instance, self.vifs, destroy_disks=False,
                            destroy_vifs=False)
        self.network.unplug.assert_not_called()
        self.server.remove_network.assert_not_called()


class PowerTest(NovaTest):
    def setUp(self):
        super().setUp()
        self.running = {'a': 41, 'b': 42}
        self.coming_back = set()
        self.driver.list_instance_uuids = lambda: list(self.running)
        found = self.patch('labdriver.compute.nova.virtual_machine.get_server')
        found.side_effect = lambda _path, uuid: SimpleNamespace(
            pid=lambda: self.running[uuid], switched_on=lambda: uuid in self.coming_back)
        self.nova.event.LifecycleEvent.side_effect = lambda uuid, change: (uuid, change)
        self.nova.event.EVENT_LIFECYCLE_STARTED = 'started'
        self.nova.event.EVENT_LIFECYCLE_STOPPED = 'stopped'
        self.driver.emit_event = mock.Mock()
        self.watch = self.nova.PowerWatch()
        self.driver._look(self.watch)

    def events(self):
        self.driver._look(self.watch)
        found = [call.args[0] for call in self.driver.emit_event.call_args_list]
        self.driver.emit_event.reset_mock()
        return found

    def test_nova_hears_of_a_server_that_switched_itself_off_and_of_its_return(self):
        self.assertEqual(self.events(), [])
        self.running['a'] = None
        self.assertEqual(self.events(), [('a', 'stopped')])
        self.running['a'] = 43
        self.assertEqual(self.events(), [('a', 'started')])

    def test_nova_hears_nothing_of_a_reboot_and_of_a_deletion(self):
        self.running['a'] = None
        self.coming_back.add('a')
        del self.running['b']
        self.assertEqual(self.events(), [])

    def test_the_watch_outlives_a_look_that_fails(self):
        looks = []

        def look(_watch):
            looks.append(1)
            if len(looks) == 1:
                raise OSError('systemctl is gone')
            raise KeyboardInterrupt     # ends the driver's endless loop
        self.driver._look = look
        self.nova.eventlet.sleep = mock.Mock()
        with self.assertRaises(KeyboardInterrupt):
            self.driver._watch_power()
        self.assertEqual(len(looks), 2)

    def test_a_host_that_boots_starts_its_servers_with_what_nova_knows(self):
        self.server.pid.return_value = None
        self.driver.resume_state_on_host_boot(None, self.instance, self.vifs, VOLUMES)
        self.server.plug.assert_called_once()
        self.assertEqual(len(self.server.set_disks.call_args.args[0]), 2)
        self.server.start.assert_called_once_with()

    def test_a_server_without_a_host_name_has_one(self):
        self.server.pid.return_value = None
        self.instance.hostname = None
        self.driver.power_on(None, self.instance, self.vifs)
        self.assertEqual(self.server.configure.call_args.args[0], 'server')

    def test_power_off_passes_novas_patience_on(self):
        self.driver.power_off(self.instance, timeout=60)
        self.server.power_off.assert_called_once_with(60)


class ResizeTest(NovaTest):
    def test_a_server_that_was_off_stays_off_on_the_new_host(self):
        self.driver.finish_migration(None, None, self.instance, '', self.vifs, None, True, {},
                                     power_on=False)
        self.server.own.assert_called_once_with('labcloud-a')
        self.server.start.assert_not_called()

    def test_a_revert_takes_the_server_back(self):
        self.server.pid.return_value = None
        self.driver.finish_revert_migration(None, self.instance, self.vifs, None, VOLUMES)
        self.server.own.assert_called_once_with('labcloud-a')
        self.server.start.assert_called_once_with()

    def test_the_old_host_switches_off_and_leaves_the_disk(self):
        self.assertEqual(self.driver.migrate_disk_and_power_off(
            None, self.instance, '172.29.0.2', None, self.vifs, timeout=5), '')
        self.server.power_off.assert_called_once_with(5)
        self.server.delete_disk.assert_not_called()
        self.driver.confirm_migration(None, None, self.instance, self.vifs)
        self.server.delete_disk.assert_not_called()

    def test_a_disk_that_is_elsewhere_is_not_shared(self):
        data = {'directory': self.directory + '/not-here'}
        self.assertFalse(self.driver.check_instance_shared_storage_remote(None, data))


class VolumeTest(NovaTest):
    CONNECTION = VOLUMES['block_device_mapping'][0]['connection_info']

    def test_a_grown_volume_is_told_to_its_loop_device(self):
        with mock.patch('labdriver.block_storage.loop_devices.grow') as grow:
            self.driver.extend_volume(None, self.CONNECTION, self.instance, 5 << 30)
        grow.assert_called_once_with('/v/b')

    def test_a_name_that_is_no_disk_is_refused_and_the_server_not_changed(self):
        with self.assertRaises(ValueError):
            self.driver.attach_volume(None, self.CONNECTION, self.instance, '/dev/../etc/passwd')
        self.server.attach.assert_not_called()

    def test_the_device_is_released_after_the_server_let_it_go(self):
        order = mock.Mock()
        order.attach_mock(self.server.detach, 'server')
        order.attach_mock(self.detached, 'loop')
        self.driver.detach_volume(None, self.CONNECTION, self.instance, '/dev/vdb')
        self.assertEqual([call[0] for call in order.mock_calls], ['server', 'loop'])

    def test_cinder_is_told_who_connects(self):
        connector = self.driver.get_volume_connector(self.instance)
        self.assertEqual((connector['host'], connector['ip']), ('labcloud-a', '172.29.0.2'))
        self.assertIs(connector['multipath'], False)


class InventoryTest(NovaTest):
    SHARE = {'vcpus': 2, 'memory_mb': 12000, 'memory_mb_used': 3000, 'local_gb': 40,
             'local_gb_used': 15}

    def setUp(self):
        super().setUp()
        self.driver._share = lambda: dict(self.SHARE)

    def test_placement_counts_this_hosts_share_by_the_ratios_of_nova(self):
        self.driver._get_allocation_ratios = lambda inventory: {
            'VCPU': 16.0, 'MEMORY_MB': 4.0, 'DISK_GB': 16.0}
        tree = mock.Mock()
        self.driver.update_provider_tree(tree, 'labcloud-a')
        name, inventory = tree.update_inventory.call_args.args
        self.assertEqual(name, 'labcloud-a')
        self.assertEqual({kind: (one['total'], one['max_unit'])
                          for kind, one in inventory.items()},
                         {'VCPU': (2, 32), 'MEMORY_MB': (12000, 48000), 'DISK_GB': (40, 640)})

    def test_the_node_is_the_host_and_offers_what_is_free(self):
        node, = self.driver.get_available_nodes()
        resource = self.driver.get_available_resource(node)
        self.assertEqual(resource['hypervisor_hostname'], 'labcloud-a')
        self.assertEqual(resource['disk_available_least'], 25)
        self.assertEqual(resource['supported_instances'], [('x86_64', 'lxc', 'exe')])
