"""Stubs of Nova, and a base class for tests of the Nova driver with these stubs."""
import contextlib
import importlib
import os
from types import SimpleNamespace
from unittest import mock

from tests.support import DirectoryTest, stub_modules

UUID = '11111111-2222-3333-4444-555555555555'
VOLUME = 'aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee'


class NovaError(Exception):
    """Replacement for NovaException."""

    def __init__(self, **facts):
        super().__init__(str(facts))
        self.facts = facts


class Timeout(BaseException):
    """Replacement for eventlet's Timeout, which is not derived from Exception."""


def errors(*names):
    """Return Nova's exceptions with these names."""
    found = {name: type(name, (NovaError,), {}) for name in names}
    return SimpleNamespace(NovaException=NovaError, **found)


class Network(dict):
    """Replacement for Nova's network of a VIF."""

    def get_meta(self, name):
        return {'mtu': self['mtu']}[name]


def nova_stubs(directory):
    """Return stubs of the modules of Nova, eventlet and oslo that the driver imports."""
    configuration = SimpleNamespace(
        register_opts=mock.Mock(), my_ip='172.29.0.2', instances_path=directory + '/instances',
        state_path=directory, vif_plugging_timeout=30, vif_plugging_is_fatal=True,
        lab=SimpleNamespace(network_host='labcloud', hosts=2, faults_dir=directory + '/faults'))
    driver = SimpleNamespace(
        ComputeDriver=type('ComputeDriver', (), {'capabilities': {}}),
        block_device_info_get_mapping=lambda info: (info or {}).get('block_device_mapping', []))
    states = SimpleNamespace(RUNNING='running', SHUTDOWN='shutdown')
    return {
        'eventlet': {'timeout': SimpleNamespace(Timeout=Timeout), 'spawn_n': mock.Mock()},
        'os_resource_classes': {'VCPU': 'VCPU', 'MEMORY_MB': 'MEMORY_MB', 'DISK_GB': 'DISK_GB'},
        'nova.conf': {'CONF': configuration},
        'nova.api.metadata': {'base': mock.Mock()},
        'nova.compute': {'power_state': states},
        'nova.image': {'glance': mock.Mock()},
        'nova.virt': {'configdrive': mock.Mock(), 'driver': driver, 'event': mock.Mock(),
                      'hardware': SimpleNamespace(InstanceInfo=lambda state: state)},
        'nova.volume': {'cinder': mock.Mock()},
        'nova': {'exception': errors('InstanceNotFound', 'BuildAbortException',
                                     'VirtualInterfaceCreateException')},
        'oslo_config': {'cfg': mock.Mock()},
        'oslo_log': {'log': mock.Mock()},
    }


def image_meta(disk_format=None, **properties):
    """Return the image data that a Nova instance keeps."""
    return SimpleNamespace(disk_format=disk_format, properties=properties,
                           obj_attr_is_set=lambda name: name != 'disk_format' or bool(disk_format))


class VirtApi:
    """Replacement for Nova's virtapi. With `late`, waiting for an event ends with a Timeout."""

    def __init__(self, late=False):
        self.late = late
        self.names = None

    @contextlib.contextmanager
    def wait_for_instance_event(self, _instance, names, deadline, error_callback):
        self.names = names
        yield
        if self.late:
            raise Timeout


class NovaTest(DirectoryTest):
    def setUp(self):
        super().setUp()
        stub_modules(self, nova_stubs(self.directory))
        self.nova = importlib.import_module('labdriver.compute.nova')
        self.loop = self.patch('labdriver.block_storage.loop_devices.attach',
                               return_value='/dev/loop3')
        self.detached = self.patch('labdriver.block_storage.loop_devices.detach')
        self.network = self.patch('labdriver.compute.nova.network')
        self.server = mock.Mock(exists=mock.Mock(return_value=True))
        self.driver = self.nova.LabDriver()
        self.driver.virtapi = VirtApi()
        self.driver._server = lambda instance: self.server
        self.driver.init_host('labcloud-a')
        self.driver.images = mock.Mock()
        self.nova.configdrive.required_by.return_value = False
        self.instance = SimpleNamespace(
            uuid=UUID, display_name='web', hostname='web', kernel_id='', ramdisk_id='',
            image_meta=image_meta('raw'),
            flavor=SimpleNamespace(memory_mb=512, vcpus=1, root_gb=5))
        self.vifs = [{'id': 'port', 'address': 'fa:16:3e:00:00:01', 'active': False,
                      'network': Network(bridge='brq1', mtu=1350)}]
        self.image = SimpleNamespace(id='image', obj_attr_is_set=lambda name: True)

    def patch(self, name, **fields):
        patch = mock.patch(name, **fields)
        self.addCleanup(patch.stop)
        return patch.start()

    def spawn(self, **fields):
        self.driver.spawn(None, self.instance, self.image, [], None, {},
                          network_info=self.vifs, **fields)

    def ask_fault(self, text):
        os.makedirs(self.directory + '/faults')
        with open(self.directory + '/faults/web', 'w', encoding='utf-8') as file:
            file.write(text)
