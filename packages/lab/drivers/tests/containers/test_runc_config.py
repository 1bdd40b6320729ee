"""The OCI configuration of a server."""
import dataclasses
import unittest

from labdriver.containers import runc_config
from labdriver.containers.volumes import Disk

UUID = '11111111-2222-3333-4444-555555555555'
VOLUME = 'aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee'
SPEC = runc_config.ContainerSpec(
    uuid=UUID, hostname='web', rootfs='/srv/rootfs', namespace='srv-1', memory_mb=512, vcpus=2,
    capabilities=('CAP_CHOWN', 'CAP_SYS_ADMIN'))


def rendered(**fields):
    """Return the configuration of a server with these fields."""
    return runc_config.render(dataclasses.replace(SPEC, **fields))


def mount(configuration, destination):
    """Return the only mount with this destination."""
    found, = (one for one in configuration['mounts'] if one['destination'] == destination)
    return found


class RenderTest(unittest.TestCase):
    def test_limits_of_the_flavor(self):
        resources = rendered()['linux']['resources']
        self.assertEqual(resources['memory'], {'limit': 512 << 20})
        self.assertEqual(resources['cpu'], {'quota': 200000, 'period': 100000})
        self.assertEqual(resources['pids'], {'limit': -1})

    def test_all_devices_are_allowed(self):
        self.assertEqual(rendered()['linux']['resources']['devices'],
                         [{'allow': True, 'access': 'rwm'}])

    def test_devices_that_kubelet_and_tunnels_need(self):
        paths = [device['path'] for device in rendered()['linux']['devices']]
        self.assertEqual(paths, ['/dev/kmsg', '/dev/fuse', '/dev/net/tun'])

    def test_own_namespaces_and_the_one_of_the_network(self):
        kinds = {one['type']: one.get('path') for one in rendered()['linux']['namespaces']}
        self.assertEqual(kinds, {'pid': None, 'mount': None, 'ipc': None, 'uts': None,
                                 'cgroup': None, 'network': '/run/netns/srv-1'})

    def test_cloud_init_recognizes_openstack(self):
        environment = rendered()['process']['env']
        self.assertIn('product_name=OpenStack Nova', environment)
        self.assertIn('container=runc', environment)

    def test_sys_is_read_only_and_cgroups_are_not(self):
        configuration = rendered()
        self.assertIn('ro', mount(configuration, '/sys')['options'])
        self.assertIn('rw', mount(configuration, '/sys/fs/cgroup')['options'])

    def test_proc_is_writable(self):
        self.assertNotIn('ro', mount(rendered(), '/proc')['options'])
        self.assertNotIn('readonlyPaths', rendered()['linux'])

    def test_capabilities_in_every_set_but_ambient(self):
        sets = rendered()['process']['capabilities']
        self.assertEqual(sorted(sets), ['bounding', 'effective', 'inheritable', 'permitted'])
        for names in sets.values():
            self.assertEqual(names, ['CAP_CHOWN', 'CAP_SYS_ADMIN'])

    def test_cgroup_path_names_the_server(self):
        self.assertEqual(rendered()['linux']['cgroupsPath'], '/lab/' + UUID)


class ConfigDriveTest(unittest.TestCase):
    def test_is_a_read_only_directory(self):
        drive = mount(rendered(config_drive='/srv/drive'), '/config-drive')
        self.assertEqual((drive['source'], drive['type']), ('/srv/drive', 'bind'))
        self.assertIn('ro', drive['options'])

    def test_is_not_there_unless_asked_for(self):
        self.assertNotIn('/config-drive', [one['destination'] for one in rendered()['mounts']])


class StartScriptTest(unittest.TestCase):
    def script(self, **fields):
        command = rendered(**fields)['process']['args']
        self.assertEqual(command[:2], ['/bin/sh', '-c'])
        return command[2]

    def test_mounts_are_shared_before_init_starts(self):
        self.assertEqual(self.script(), 'mount --make-rshared / && mkdir -p /dev/disk/by-id'
                                        ' && exec /sbin/init')

    def test_volumes_have_their_links(self):
        disk = Disk('/dev/vdb', VOLUME, 7, 12)
        self.assertIn('ln -sfn ../../vdb /dev/disk/by-id/virtio-aaaaaaaa-bbbb-cccc-d',
                      self.script(disks=(disk,)))

    def test_volumes_have_their_nodes(self):
        disk = Disk('/dev/vdb', VOLUME, 7, 12)
        node = rendered(disks=(disk,))['linux']['devices'][-1]
        self.assertEqual((node['path'], node['type'], node['major'], node['minor']),
                         ('/dev/vdb', 'b', 7, 12))

    def test_a_server_that_does_not_boot_says_kernel_panic_and_waits(self):
        script = self.script(boots=False)
        self.assertIn('Kernel panic', script)
        self.assertTrue(script.endswith('exec sleep infinity'))
        self.assertNotIn('/sbin/init', script)


class CapabilitiesTest(unittest.TestCase):
    def test_bits_are_names(self):
        names = runc_config.parse_bounding_capabilities('Name:\tx\nCapBnd:\t0000000000000003\n')
        self.assertEqual(names, ('CAP_CHOWN', 'CAP_DAC_OVERRIDE'))

    def test_missing_bit_is_left_out(self):
        names = runc_config.parse_bounding_capabilities('CapBnd:\t000001fffeffffff\n')
        self.assertNotIn('CAP_SYS_RESOURCE', names)
        self.assertIn('CAP_CHECKPOINT_RESTORE', names)
        self.assertEqual(len(names), 40)

    def test_unknown_bits_are_left_out(self):
        names = runc_config.parse_bounding_capabilities('CapBnd:\tffffffffffffffff\n')
        self.assertEqual(len(names), len(runc_config.CAPABILITIES))
