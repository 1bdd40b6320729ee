"""Operations of the Nova driver on existing servers: power, volumes, resize."""
import os

import nova.conf
from nova.virt import driver

from labdriver.block_storage import loop_devices
from labdriver.containers import volumes

CONF = nova.conf.CONF


class LabDriverOperations:
    """Mixin for LabDriver. Methods use the attributes host, _server and plug_vifs of LabDriver."""

    # -- power

    def power_on(self, context, instance, network_info, block_device_info=None, accel_info=None):
        server = self._server(instance)
        if not server.pid():
            self.plug_vifs(instance, network_info)
            self._configure(server, instance, block_device_info)
            server.start()

    def power_off(self, instance, timeout=0, retry_interval=0):
        self._server(instance).power_off(timeout)

    def reboot(self, context, instance, network_info, reboot_type, block_device_info=None,
               bad_volumes_callback=None, accel_info=None):
        server = self._server(instance)
        if reboot_type == 'SOFT' and server.reboot(server.reboot_timeout):
            return
        server.kill()
        self.power_on(context, instance, network_info, block_device_info)

    def resume_state_on_host_boot(self, context, instance, network_info, block_device_info=None):
        self.power_on(context, instance, network_info, block_device_info)

    def _configure(self, server, instance, block_device_info, boots=True):
        """Write the server's settings for its next start, from Nova's current data."""
        server.set_disks(tuple(
            self._disk(mapping['connection_info']['data'], mapping['mount_device'])
            for mapping in driver.block_device_info_get_mapping(block_device_info)))
        server.resize_disk(instance.flavor.root_gb)
        server.configure(instance.hostname or 'server', instance.flavor.memory_mb,
                         instance.flavor.vcpus, boots)

    # -- volumes

    @staticmethod
    def _disk(data, device):
        loop = loop_devices.attach(data['path'])
        return volumes.Disk(device, data['volume_id'], loop_devices.MAJOR,
                            loop_devices.get_minor(loop))

    def get_volume_connector(self, instance):
        return {'host': self.host, 'ip': CONF.my_ip, 'initiator': 'lab', 'multipath': False,
                'platform': 'x86_64', 'os_type': 'linux'}

    def default_root_device_name(self, instance, image_meta, root_bdm):
        return '/dev/vda'

    def attach_volume(self, context, connection_info, instance, mountpoint, disk_bus=None,
                      device_type=None, encryption=None):
        self._server(instance).attach(self._disk(connection_info['data'], mountpoint))

    def detach_volume(self, context, connection_info, instance, mountpoint, encryption=None):
        data = connection_info['data']
        self._server(instance).detach(data['volume_id'])
        loop_devices.detach(data['path'])

    def extend_volume(self, context, connection_info, instance, requested_size):
        data = connection_info['data']
        loop_devices.grow(data['path'])
        self._server(instance).extended(data['volume_id'], requested_size)

    # -- resize: all compute hosts are on this machine and share the servers' directory

    def check_instance_shared_storage_local(self, context, instance):
        return {'directory': self._server(instance).directory}

    def check_instance_shared_storage_remote(self, context, data):
        return os.path.isdir(data['directory'])

    def check_instance_shared_storage_cleanup(self, context, data):
        pass

    def migrate_disk_and_power_off(self, context, instance, dest, flavor, network_info,
                                   block_device_info=None, timeout=0, retry_interval=0):
        self._server(instance).power_off(timeout)
        return ''

    def finish_migration(self, context, migration, instance, disk_info, network_info, image_meta,
                         resize_instance, allocations, block_device_info=None, power_on=True):
        self._move_here(context, instance, network_info, block_device_info, power_on)

    def finish_revert_migration(self, context, instance, network_info, migration,
                                block_device_info=None, power_on=True):
        self._move_here(context, instance, network_info, block_device_info, power_on)

    def _move_here(self, context, instance, network_info, block_device_info, power_on):
        self._server(instance).own(self.host)
        if power_on:
            self.power_on(context, instance, network_info, block_device_info)

    def confirm_migration(self, context, migration, instance, network_info):
        """Do nothing, because the server keeps its only directory and disk after a resize."""
