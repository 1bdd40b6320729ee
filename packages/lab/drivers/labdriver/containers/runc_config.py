"""OCI configuration of a server: a system container that can run containerd and kubelet.

Reasons for the settings:
* /sys is read-only, so that udev does not start and manage the host's devices. Control groups are
  writable.
* All mounts are made shared before init starts. Otherwise pods do not see the volumes that kubelet
  mounts.
* kubelet does not start without /dev/kmsg. All devices are allowed, because privileged pods
  mount volumes.
* The server gets only capabilities that this process has, because runc refuses others.
* PID 1 has `product_name` and `container` in its environment, so that cloud-init detects
  OpenStack.
* There are no rlimits and no oomScoreAdj, because runc could not set them without
  CAP_SYS_RESOURCE.
"""
import dataclasses
import re
import shlex

from labdriver.containers import config_drive
from labdriver.containers.volumes import BY_ID, DISK_GROUP, Disk

CAPABILITIES = (
    'CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP LINUX_IMMUTABLE '
    'NET_BIND_SERVICE NET_BROADCAST NET_ADMIN NET_RAW IPC_LOCK IPC_OWNER SYS_MODULE SYS_RAWIO '
    'SYS_CHROOT SYS_PTRACE SYS_PACCT SYS_ADMIN SYS_BOOT SYS_NICE SYS_RESOURCE SYS_TIME '
    'SYS_TTY_CONFIG MKNOD LEASE AUDIT_WRITE AUDIT_CONTROL SETFCAP MAC_OVERRIDE MAC_ADMIN SYSLOG '
    'WAKE_ALARM BLOCK_SUSPEND AUDIT_READ PERFMON BPF CHECKPOINT_RESTORE').split()
CPU_PERIOD = 100000
PATH = '/usr/sbin:/usr/bin:/sbin:/bin'
CHARACTER_DEVICES = (('/dev/kmsg', 1, 11), ('/dev/fuse', 10, 229), ('/dev/net/tun', 10, 200))
PANIC = ('[    0.812345] VFS: Cannot open root device "vda1" or unknown-block(254,1): error -6\n'
         '[    0.812399] Kernel panic - not syncing: VFS: Unable to mount root fs\n'
         '[    0.812423] ---[ end Kernel panic - not syncing ]---')


@dataclasses.dataclass(frozen=True)
class ContainerSpec:
    """Inputs of a server's configuration. config_drive: host directory or None."""

    uuid: str
    hostname: str
    rootfs: str
    namespace: str
    memory_mb: int
    vcpus: int
    capabilities: tuple
    disks: tuple[Disk, ...] = ()
    config_drive: str | None = None
    boots: bool = True


def parse_bounding_capabilities(status):
    """Return the capabilities in the bounding set, from the text of /proc/self/status."""
    mask = int(re.search(r'^CapBnd:\s*(\w+)', status, re.MULTILINE).group(1), 16)
    return tuple('CAP_' + name for bit, name in enumerate(CAPABILITIES) if mask >> bit & 1)


def render(spec):
    """Return the content of config.json as a dictionary."""
    capabilities = list(spec.capabilities)
    sets = ('bounding', 'effective', 'permitted', 'inheritable')
    return {
        'ociVersion': '1.0.2',
        'hostname': spec.hostname,
        'root': {'path': spec.rootfs, 'readonly': False},
        'mounts': list_mounts(spec.config_drive),
        'process': {
            'terminal': True, 'user': {'uid': 0, 'gid': 0}, 'cwd': '/',
            'env': ['container=runc', 'TERM=vt220', 'PATH=' + PATH,
                    'product_name=OpenStack Nova', 'container_uuid=' + spec.uuid],
            'args': ['/bin/sh', '-c', render_start_script(spec)],
            'capabilities': {name: capabilities for name in sets},
        },
        'linux': get_linux_section(spec),
    }


def get_linux_section(spec):
    plain = ({'type': kind} for kind in ('pid', 'mount', 'ipc', 'uts', 'cgroup'))
    network = {'type': 'network', 'path': '/run/netns/' + spec.namespace}
    return {
        'devices': list_devices(spec.disks),
        'cgroupsPath': '/lab/' + spec.uuid,
        'namespaces': [*plain, network],
        'maskedPaths': ['/proc/kcore', '/proc/sysrq-trigger'],
        'resources': {
            'devices': [{'allow': True, 'access': 'rwm'}],
            'memory': {'limit': spec.memory_mb << 20},
            'cpu': {'quota': spec.vcpus * CPU_PERIOD, 'period': CPU_PERIOD},
            'pids': {'limit': -1},
        },
    }


def list_devices(disks):
    """Return the device nodes in the server's /dev."""
    nodes = [{'path': path, 'type': 'c', 'major': major, 'minor': minor,
              'fileMode': 0o600, 'uid': 0, 'gid': 0} for path, major, minor in CHARACTER_DEVICES]
    nodes += [{'path': disk.device, 'type': 'b', 'major': disk.major, 'minor': disk.minor,
               'fileMode': 0o660, 'uid': 0, 'gid': DISK_GROUP} for disk in disks]
    return nodes


def list_mounts(drive):
    quiet = ['nosuid', 'noexec', 'nodev']
    found = [
        _mount('/proc', 'proc', quiet),
        _mount('/dev', 'tmpfs', ['nosuid', 'mode=755']),
        _mount('/dev/pts', 'devpts', ['nosuid', 'noexec', 'newinstance', 'ptmxmode=0666',
                                      'mode=0620', 'gid=5']),
        _mount('/dev/shm', 'tmpfs', ['nosuid', 'nodev', 'mode=1777']),
        _mount('/dev/mqueue', 'mqueue', quiet),
        _mount('/sys', 'sysfs', quiet + ['ro']),
        _mount('/sys/fs/cgroup', 'cgroup', quiet + ['rw']),
        _mount('/run', 'tmpfs', ['nosuid', 'nodev', 'mode=755']),
        _mount('/run/lock', 'tmpfs', ['nosuid', 'nodev', 'mode=1777']),
        _mount('/tmp', 'tmpfs', ['nosuid', 'nodev', 'mode=1777']),
    ]
    if drive:
        found.append({'destination': config_drive.MOUNT_POINT, 'type': 'bind', 'source': drive,
                      'options': ['bind', 'ro', 'nosuid', 'nodev', 'noexec']})
    return found


def _mount(destination, kind, options):
    return {'destination': destination, 'type': kind, 'source': kind, 'options': options}


def render_start_script(spec):
    """Return the command that PID 1 runs before init, also after a reboot from inside."""
    if not spec.boots:
        return 'echo %s; exec sleep infinity' % shlex.quote(PANIC)
    lines = ['mount --make-rshared /', 'mkdir -p ' + BY_ID]
    lines += ['ln -sfn %s %s' % (shlex.quote(disk.link_target), shlex.quote(disk.link))
              for disk in spec.disks]
    return ' && '.join(lines + ['exec /sbin/init'])
