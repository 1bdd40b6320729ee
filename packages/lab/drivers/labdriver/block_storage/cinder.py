"""Cinder driver: a volume is a sparse file. The lab's Nova driver makes a loop device of the file.

Connections have the type lab_loop and contain the file's path. os-brick is not used.
"""
from cinder import interface
from cinder.image import image_utils
from cinder.volume import configuration
from cinder.volume import driver
from oslo_config import cfg

from labdriver.block_storage.volume_files import VolumeFiles

OPTIONS = [
    cfg.StrOpt('lab_volume_dir', default='/srv/lab/volumes', help='Directory of the files.'),
    cfg.IntOpt('lab_backends', default=2, min=1, help='Backends that share the file system.'),
]
cfg.CONF.register_opts(OPTIONS, group=configuration.SHARED_CONF_GROUP)
PROTOCOL = 'lab_loop'


@interface.volumedriver
class LabVolumeDriver(driver.VolumeDriver):
    """Driver of one backend."""

    VERSION = '1.0'
    CI_WIKI_NAME = 'none'

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.configuration.append_config_values(OPTIONS)
        self.files = None

    @classmethod
    def get_driver_options(cls):
        return OPTIONS

    def do_setup(self, context):
        self.files = VolumeFiles(self.configuration.lab_volume_dir)

    def check_for_setup_error(self):
        pass

    # -- volumes and snapshots

    def create_volume(self, volume):
        self.files.create(volume.name, volume.size)

    def delete_volume(self, volume):
        self.files.delete(volume.name)

    def extend_volume(self, volume, new_size):
        self.files.extend(volume.name, new_size)

    def create_snapshot(self, snapshot):
        self.files.copy(snapshot.volume.name, snapshot.name)

    def delete_snapshot(self, snapshot):
        self.files.delete(snapshot.name)

    def create_volume_from_snapshot(self, volume, snapshot):
        self.files.copy(snapshot.name, volume.name, volume.size)

    def create_cloned_volume(self, volume, src_vref):
        self.files.copy(src_vref.name, volume.name, volume.size)

    def copy_image_to_volume(self, context, volume, image_service, image_id,
                             disable_sparse=False):
        image_utils.fetch_to_raw(context, image_service, image_id, self.files.path(volume.name),
                                 self.configuration.volume_dd_blocksize, size=volume.size)
        self.files.extend(volume.name, volume.size)

    def copy_volume_to_image(self, context, volume, image_service, image_meta):
        image_utils.upload_volume(context, image_service, image_meta,
                                  self.files.path(volume.name), volume)

    # -- connections

    def ensure_export(self, context, volume):
        pass

    def create_export(self, context, volume, connector):
        pass

    def remove_export(self, context, volume):
        pass

    def initialize_connection(self, volume, connector):
        return {'driver_volume_type': PROTOCOL,
                'data': {'path': self.files.path(volume.name), 'volume_id': volume.id}}

    def terminate_connection(self, volume, connector, **kwargs):
        pass

    def _update_volume_stats(self):
        pool = dict(self.files.capacity(self.configuration.lab_backends),
                    pool_name=self.configuration.volume_backend_name, reserved_percentage=0,
                    thin_provisioning_support=True, QoS_support=False, multiattach=False,
                    max_over_subscription_ratio=self.configuration.max_over_subscription_ratio)
        self._stats = {'volume_backend_name': self.configuration.volume_backend_name,
                       'vendor_name': 'lab', 'driver_version': self.VERSION,
                       'storage_protocol': PROTOCOL, 'pools': [pool]}
