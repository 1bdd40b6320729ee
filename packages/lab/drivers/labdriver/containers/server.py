"""One server on this host: its directory, its systemd unit, its processes.

The directory contains everything that a restarted compute service needs: config.json (runc),
server.json (inputs of config.json), console.log, rootfs, config-drive, owner, pid. The unit is
transient and independent of the compute service, so the server keeps running without the
service.
"""
import dataclasses
import json
import os
import shutil
import signal
import time

from labdriver import network
from labdriver.containers import config_drive, runc_config, volumes
from labdriver.images import root_subvolumes
from labdriver.shell import ANY_STATUS, run

RUNC = ('/usr/bin/runc', '--root', '/run/lab-runc')
CONSOLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'console.py')
# signals by which systemd as PID 1 powers off and reboots
POWER_OFF = signal.SIGRTMIN + 4
REBOOT = signal.SIGRTMIN + 5
# exit codes of runc after PID 1 has rebooted, powered off, or was killed
REBOOTED, POWERED_OFF, KILLED = 129, 130, 137
POLL = 0.2
CONSOLE_TAIL = 100 << 10


def list_owned_uuids(instances, owner):
    """Return the UUIDs of the servers in the directory that belong to a compute host."""
    return [name for name in os.listdir(instances) if Server(instances, name).owner() == owner]


class Server:
    """Names, paths and actions of one server."""

    # Time limit of a soft reboot in seconds. After this time, Nova's reboot becomes a hard reboot.
    reboot_timeout = 60

    def __init__(self, instances, uuid):
        self.uuid = uuid
        self.namespace = 'srv-' + uuid[:13]
        self.unit = 'lab-srv-%s.service' % uuid
        self.directory = os.path.join(instances, uuid)
        self.rootfs = self._path('rootfs')

    def _path(self, name):
        return os.path.join(self.directory, name)

    # -- directory

    def exists(self):
        """Return whether the server has a directory on this host."""
        return os.path.isdir(self.directory)

    def owner(self):
        """Return the compute host of the server, or None if the server does not exist."""
        return self._read('owner')

    def own(self, owner):
        """Assign the server to a compute host."""
        self._write('owner', owner)

    def create(self, owner, image):
        """Create the disk as a copy of an unpacked image. Delete remains of an earlier attempt."""
        self.delete_disk()
        os.makedirs(self.directory)
        self.own(owner)
        root_subvolumes.snapshot(image, self.rootfs)

    def delete_disk(self):
        """Delete the directory of the server. Delete the disk first, because it is a btrfs
        subvolume."""
        root_subvolumes.delete(self.rootfs)
        shutil.rmtree(self.directory, ignore_errors=True)

    def resize_disk(self, gigabytes):
        """Do nothing, because the disk is a folder without a size limit."""

    def write_config_drive(self, files):
        """Create the config drive of the server from (path, content) pairs."""
        config_drive.write(self._path('config-drive'), files)

    def console_output(self):
        """Return the last 100 KiB of the console, as bytes."""
        try:
            with open(self._path('console.log'), 'rb') as log:
                log.seek(max(0, os.fstat(log.fileno()).st_size - CONSOLE_TAIL))
                return log.read()
        except FileNotFoundError:
            return b''

    def _read(self, name):
        try:
            with open(self._path(name), encoding='utf-8') as file:
                return file.read().strip()
        except (FileNotFoundError, NotADirectoryError):
            return None

    def _write(self, name, text):
        fresh = self._path(name + '.new')
        with open(fresh, 'w', encoding='utf-8') as file:
            file.write(text)
        os.rename(fresh, self._path(name))

    # -- configuration

    def configure(self, hostname, memory_mb, vcpus, boots=True):
        """Write the configuration for the next start. The disks are not changed."""
        self._save({'hostname': hostname, 'memory_mb': memory_mb, 'vcpus': vcpus, 'boots': boots})
        self.set_disks(self.disks())

    def _save(self, facts):
        self._write('server.json', json.dumps(facts))

    def disks(self):
        """Return the volumes of the server."""
        return tuple(volumes.Disk(**disk) for disk in json.loads(self._read('disks.json') or '[]'))

    def set_disks(self, disks):
        """Set the volumes that the server gets at each start and reboot."""
        self._write('disks.json', json.dumps([dataclasses.asdict(disk) for disk in disks]))
        facts = self._read('server.json')
        if facts:
            self._write('config.json', json.dumps(self._render(json.loads(facts), disks)))

    def _render(self, facts, disks):
        with open('/proc/self/status', encoding='utf-8') as status:
            capabilities = runc_config.parse_bounding_capabilities(status.read())
        drive = self._path('config-drive')
        return runc_config.render(runc_config.ContainerSpec(
            uuid=self.uuid, rootfs=self.rootfs, namespace=self.namespace, disks=disks,
            capabilities=capabilities, config_drive=drive if os.path.isdir(drive) else None,
            **facts))

    def attach(self, disk):
        """Attach a volume: immediately if the server runs, otherwise at the next start."""
        self.set_disks(volumes.add(self.disks(), disk))
        pid = self.pid()
        if pid:
            volumes.show('/proc/%d/root' % pid, disk)

    def detach(self, volume_id):
        """Detach a volume: immediately if the server runs, otherwise at the next start."""
        disks, pid = self.disks(), self.pid()
        self.set_disks(volumes.remove(disks, volume_id=volume_id))
        if pid:
            for disk in disks:
                if disk.volume_id == volume_id:
                    volumes.hide('/proc/%d/root' % pid, disk)

    def extended(self, volume_id, size):
        """Do nothing, because a container sees the new size of the host's block device."""

    # -- life

    def pid(self):
        """Return the process ID of the server's PID 1, or None if the server does not run."""
        try:
            pid = int(self._read('pid') or 0)
            with open('/proc/%d/cgroup' % pid, encoding='utf-8') as groups:
                return pid if '/lab/' + self.uuid in groups.read() else None
        except (OSError, ValueError):
            return None

    def switched_on(self):
        """Return whether systemd has the server's unit.

        Such a server runs, is starting, or is rebooting. During a reboot from inside, the unit is
        deactivating and then activating.
        """
        state = run('systemctl', 'show', '-P', 'ActiveState', self.unit, ok=ANY_STATUS).strip()
        return state in ('active', 'activating', 'deactivating')

    def start(self):
        """Start the server's unit. console.py copies the terminal of PID 1 to the console log."""
        self.kill()
        run('systemd-run', '--quiet', '--collect', '--unit', self.unit,
            *(word for line in self._unit_properties() for word in ('-p', line)),
            '/usr/bin/python3', '-I', CONSOLE, self._path('console.log'),
            *RUNC, 'run', '--pid-file', self._path('pid'), '--bundle', self.directory, self.uuid)

    def _unit_properties(self):
        """Return the properties of the systemd unit. After a reboot from inside, the unit restarts
        the server. On stop, ExecStop kills the server."""
        runc = ' '.join(RUNC)
        return ('Description=server %s' % self.uuid, 'Restart=no', 'OOMScoreAdjust=0',
                'RestartForceExitStatus=%d' % REBOOTED, 'StartLimitIntervalSec=0',
                'SuccessExitStatus=%d %d %d' % (REBOOTED, POWERED_OFF, KILLED),
                'ExecStop=-%s kill %s KILL' % (runc, self.uuid),
                'ExecStopPost=-%s delete -f %s' % (runc, self.uuid),
                'KillMode=mixed', 'TimeoutStopSec=10')

    def kill(self):
        """Switch the server off without a shutdown, as in a power failure."""
        run('systemctl', 'stop', self.unit, ok=ANY_STATUS)
        run('systemctl', 'reset-failed', self.unit, ok=ANY_STATUS)
        if os.path.exists('%s/%s' % (RUNC[-1], self.uuid)):
            run(*RUNC, 'delete', '-f', self.uuid, ok=ANY_STATUS)

    def power_off(self, timeout):
        """Switch the server off. init has timeout seconds to stop its services."""
        pid = self.pid()
        if pid and timeout:
            self._signal(pid, POWER_OFF)
            self._wait(lambda: not self.pid(), timeout)
        self.kill()

    def reboot(self, timeout):
        """Let init reboot the server. Return False if this takes longer than timeout seconds."""
        pid = self.pid()
        if not pid:
            return False
        self._signal(pid, REBOOT)
        return self._wait(lambda: self.pid() not in (None, pid), timeout)

    @staticmethod
    def _signal(pid, number):
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass    # the process has just exited, as the caller wants

    @staticmethod
    def _wait(reached, timeout):
        deadline = time.monotonic() + timeout
        while not reached():
            if time.monotonic() > deadline:
                return False
            time.sleep(POLL)
        return True

    # -- network

    def ensure_network(self):
        """Create the server's network namespace."""
        network.ensure_namespace(self.namespace)

    def plug(self, port, bridge, device=None):
        """Connect the server to a port as eth0, eth1, ... (or as the given device)."""
        network.ensure_namespace(self.namespace)
        device = device or network.find_free_device_name(network.list_device_names(self.namespace))
        network.plug(port, self.namespace, device, bridge)

    def unplug(self, port_id):
        network.unplug(port_id)

    def remove_network(self):
        """Delete the server's network namespace."""
        network.remove_namespace(self.namespace)
