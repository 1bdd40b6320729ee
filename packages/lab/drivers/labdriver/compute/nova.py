"""Nova driver: servers are system containers or virtual machines on this host.

A server is a virtual machine if its image has the format qcow2. A virtual machine can boot only
from an image.

A system container that boots from a volume gets the file tree of the image from which the volume
was created. Changes are kept with the server, not on the volume. Not supported: snapshots to
images, rescue, pause, live migration.
"""
import os

import eventlet
import nova.conf
import os_resource_classes as orc
from nova import exception
from nova.api.metadata import base as instance_metadata
from nova.compute import power_state
from nova.image import glance
from nova.virt import configdrive, driver, event, hardware
from nova.volume import cinder
from oslo_config import cfg
from oslo_log import log as logging

from labdriver import network
from labdriver.block_storage import loop_devices
from labdriver.compute import faults, inventory
from labdriver.compute.nova_operations import LabDriverOperations
from labdriver.compute.power_watch import STARTED, PowerWatch
from labdriver.containers.server import Server, list_owned_uuids
from labdriver.images.image_stores import ImageError, ImageFileStore, UnpackedImageStore
from labdriver.virtual_machines import qemu_command_line as qemu, virtual_machine

CONF = nova.conf.CONF
LOG = logging.getLogger(__name__)
OPTIONS = [
    cfg.StrOpt('network_host', default='labcloud', help='Host of the Neutron agent.'),
    cfg.IntOpt('hosts', default=2, min=1, help='Compute services that share this machine.'),
    cfg.StrOpt('faults_dir', default='/srv/lab/faults', help='Requests of faults, see faults.py.'),
]
CONF.register_opts(OPTIONS, group='lab')
WATCH_INTERVAL = 0.5


class LabDriver(LabDriverOperations, driver.ComputeDriver):
    """Hypervisor of one compute host."""

    capabilities = dict(driver.ComputeDriver.capabilities, supports_attach_interface=True,
                        supports_extend_volume=True, supports_image_type_raw=True,
                        supports_image_type_qcow2=True)

    def init_host(self, host):
        self.host = host
        os.makedirs(CONF.instances_path, exist_ok=True)
        self.images = UnpackedImageStore(os.path.join(CONF.state_path, 'base'))
        self.files = ImageFileStore(os.path.join(CONF.state_path, 'base-files'))
        eventlet.spawn_n(self._watch_power)

    def _server(self, instance):
        kind = virtual_machine.VirtualMachine if is_emulated(instance.image_meta) else Server
        return kind(CONF.instances_path, instance.uuid)

    # -- host

    def get_available_nodes(self, refresh=False):
        return [self.host]

    def get_host_ip_addr(self):
        return CONF.my_ip

    def network_binding_host_id(self, context, instance):
        return CONF.lab.network_host

    def manages_network_binding_host_id(self):
        # with False, Nova would bind the ports again every minute, because their host is not the
        # compute host
        return True

    def _share(self):
        with open('/proc/meminfo', encoding='utf-8') as meminfo:
            return inventory.compute_host_share(os.cpu_count(), meminfo.read(),
                                                os.statvfs(CONF.instances_path), CONF.lab.hosts)

    def get_available_resource(self, nodename):
        share = self._share()
        return dict(share, vcpus_used=0, hypervisor_type='lab', hypervisor_version=1,
                    hypervisor_hostname=nodename, cpu_info='{}', numa_topology=None,
                    disk_available_least=share['local_gb'] - share['local_gb_used'],
                    supported_instances=[('x86_64', 'lxc', 'exe')])

    def update_provider_tree(self, provider_tree, nodename, allocations=None):
        share = self._share()
        ratios = self._get_allocation_ratios(provider_tree.data(nodename).inventory)
        totals = {orc.VCPU: share['vcpus'], orc.MEMORY_MB: share['memory_mb'],
                  orc.DISK_GB: share['local_gb']}
        provider_tree.update_inventory(nodename, {
            name: inventory.get_placement_inventory(total, ratios[name])
            for name, total in totals.items()})

    # -- running servers

    def list_instances(self):
        return self.list_instance_uuids()

    def list_instance_uuids(self):
        return list_owned_uuids(CONF.instances_path, self.host)

    def instance_exists(self, instance):
        return self._server(instance).exists()

    def get_info(self, instance, use_cache=True):
        server = self._server(instance)
        if not server.exists():
            raise exception.InstanceNotFound(instance_id=instance.uuid)
        # Nova stops a server that runs according to its database but not according to this method.
        # So a server that is still starting counts as running.
        runs = server.pid() or server.switched_on()
        return hardware.InstanceInfo(power_state.RUNNING if runs else power_state.SHUTDOWN)

    def get_console_output(self, context, instance):
        return self._server(instance).console_output()

    def _watch_power(self):
        """Report to Nova, within a second, each server that powers itself off or on."""
        watch = PowerWatch()
        while True:
            eventlet.sleep(WATCH_INTERVAL)
            try:
                self._look(watch)
            except Exception:
                LOG.exception('the state of the servers cannot be seen; trying again')

    def _look(self, watch):
        servers = {uuid: virtual_machine.get_server(CONF.instances_path, uuid)
                   for uuid in self.list_instance_uuids()}
        now = {uuid: bool(server.pid()) for uuid, server in servers.items()}
        for uuid, change in watch.changes(now, lambda uuid: servers[uuid].switched_on()):
            transition = (event.EVENT_LIFECYCLE_STARTED if change == STARTED
                          else event.EVENT_LIFECYCLE_STOPPED)
            self.emit_event(event.LifecycleEvent(uuid, transition))

    # -- create and delete

    def spawn(self, context, instance, image_meta, injected_files, admin_password, allocations,
              network_info=None, block_device_info=None, power_on=True, accel_info=None):
        try:
            self._spawn(context, instance, image_meta, injected_files, admin_password,
                        network_info, block_device_info, power_on)
        except Exception as error:
            self.destroy(context, instance, network_info, block_device_info)
            if isinstance(error, exception.NovaException):
                raise
            # Nova would retry other exceptions on other hosts, and the reason would be lost.
            LOG.exception('spawn of %s', instance.uuid)
            raise exception.BuildAbortException(
                instance_uuid=instance.uuid, reason=str(error)) from error

    def _spawn(self, context, instance, image_meta, injected_files, admin_password,
               network_info, block_device_info, power_on):
        fault = faults.find_fault(CONF.lab.faults_dir, instance.display_name)
        if fault == faults.ERROR:
            raise ImageError('fault injected by a test: the hypervisor refuses this server')
        image_id = self._image_id(context, image_meta, block_device_info)
        server = self._server(instance)
        with self._vifs_plugged(instance, network_info):
            server.create(self.host, self._base(context, instance, image_id))
            self.plug_vifs(instance, network_info)
            if configdrive.required_by(instance):
                server.write_config_drive(self._metadata(
                    instance, injected_files, admin_password, network_info))
        self._configure(server, instance, block_device_info, boots=fault != faults.NO_BOOT)
        if power_on:
            server.start()

    def _vifs_plugged(self, instance, network_info):
        names = [('network-vif-plugged', vif['id']) for vif in network_info
                 if vif.get('active') is False]
        return VifPluggedWait(self.virtapi, instance, names if CONF.vif_plugging_timeout else [])

    @staticmethod
    def _image_id(context, image_meta, block_device_info):
        """Return the ID of the server's image, or of the image from which its boot volume was
        made."""
        if image_meta.obj_attr_is_set('id') and image_meta.id:
            return image_meta.id
        for mapping in driver.block_device_info_get_mapping(block_device_info):
            if mapping.get('boot_index') == 0:
                volume_id = mapping['connection_info']['data']['volume_id']
                volume = cinder.API().get(context, volume_id)
                image_id = volume.get('volume_image_metadata', {}).get('image_id')
                if image_id:
                    return image_id
        raise ImageError('the server boots from nothing that was made of an image')

    def _base(self, context, instance, image_id):
        """Return the unpacked image of a container, or the files and hardware of a virtual
        machine."""
        def ensure(store, one):
            return store.ensure(
                one, lambda path: glance.API().download(context, one, dest_path=path))

        if not is_emulated(instance.image_meta):
            return ensure(self.images, image_id)
        names = (image_id, instance.kernel_id, instance.ramdisk_id)
        if not all(names):
            raise ImageError('image %s has no properties kernel_id and ramdisk_id' % image_id)
        return qemu.parse_hardware(tuple(ensure(self.files, name) for name in names),
                                   instance.image_meta.properties)

    @staticmethod
    def _metadata(instance, injected_files, admin_password, network_info):
        extra = {'admin_pass': admin_password} if admin_password else {}
        return instance_metadata.InstanceMetadata(
            instance, content=injected_files, extra_md=extra,
            network_info=network_info).metadata_for_config_drive()

    def destroy(self, context, instance, network_info, block_device_info=None, destroy_disks=True,
                destroy_secrets=True):
        self._server(instance).kill()
        self.cleanup(context, instance, network_info, block_device_info, destroy_disks)

    def cleanup(self, context, instance, network_info, block_device_info=None, destroy_disks=True,
                migrate_data=None, destroy_vifs=True, destroy_secrets=True):
        server = self._server(instance)
        if destroy_vifs:
            self.unplug_vifs(instance, network_info)
            server.remove_network()
        for mapping in driver.block_device_info_get_mapping(block_device_info):
            loop_devices.detach(mapping['connection_info']['data']['path'])
        if destroy_disks:
            server.delete_disk()

    # -- network

    def plug_vifs(self, instance, network_info):
        server = self._server(instance)
        server.ensure_network()
        for index, vif in enumerate(network_info):
            server.plug(get_plug_fields(vif), vif['network']['bridge'], 'eth%d' % index)

    def unplug_vifs(self, instance, network_info):
        for vif in network_info or ():
            network.unplug(vif['id'])

    def attach_interface(self, context, instance, image_meta, vif):
        self._server(instance).plug(get_plug_fields(vif), vif['network']['bridge'])

    def detach_interface(self, context, instance, vif):
        self._server(instance).unplug(vif['id'])


def is_emulated(image_meta):
    """Return whether servers of an image are virtual machines."""
    return (image_meta.obj_attr_is_set('disk_format')
            and image_meta.disk_format == virtual_machine.FORMAT)


def get_plug_fields(vif):
    """Return the fields of a Nova VIF that network.plug needs."""
    return {'id': vif['id'], 'mac': vif['address'], 'mtu': vif['network'].get_meta('mtu') or 1400}


class VifPluggedWait:
    """Context manager that waits on exit until Neutron has plugged the ports.

    Nova's own context manager raises an eventlet Timeout. Nova does not handle this exception,
    and the server would stay in BUILD forever.
    """

    def __init__(self, virtapi, instance, names):
        self._context = virtapi.wait_for_instance_event(
            instance, names, deadline=CONF.vif_plugging_timeout, error_callback=self._failed)

    def __enter__(self):
        return self._context.__enter__()

    def __exit__(self, *raised):
        try:
            return self._context.__exit__(*raised)
        except eventlet.timeout.Timeout:
            self._failed('network-vif-plugged', None)
            return False

    @staticmethod
    def _failed(_name, _instance):
        if CONF.vif_plugging_is_fatal:
            raise exception.VirtualInterfaceCreateException()
