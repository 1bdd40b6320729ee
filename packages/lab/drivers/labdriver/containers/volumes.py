"""Volumes of a server: a block device node and a by-id link in the server's /dev.

A container has no udev, so the driver creates node and link. When a server starts, runc creates
the node and the start script creates the link. While a server runs, this module creates node and
link through /proc/PID/root. Pods that mount the server's /dev see them immediately.

The link has the same name as under KVM: virtio-<first 20 characters of the volume's ID>. The
Cinder CSI node plugin searches for this name. lsblk shows the kernel's name loopN, and also the
host's other loop devices, because servers share /sys.
"""
import contextlib
import dataclasses
import os
import re
import stat

BY_ID = '/dev/disk/by-id'
DISK_GROUP = 6
DEVICE = re.compile(r'^/dev/[a-z]+$')


@dataclasses.dataclass(frozen=True)
class Disk:
    """A volume in a server. device: path in the server. major, minor: block device numbers."""

    device: str
    volume_id: str
    major: int
    minor: int

    def __post_init__(self):
        if not DEVICE.match(self.device):
            raise ValueError('%s is not the name of a disk' % self.device)

    @property
    def link(self):
        """Path of the by-id link."""
        return '%s/virtio-%s' % (BY_ID, self.volume_id[:20])

    @property
    def link_target(self):
        """Target of the by-id link."""
        return '../../' + os.path.basename(self.device)


def add(disks, disk):
    """Return the disks with this disk. Remove a disk that has the same device name or volume ID."""
    return remove(remove(disks, device=disk.device), volume_id=disk.volume_id) + (disk,)


def remove(disks, device=None, volume_id=None):
    """Return the disks without the disk that has this device name or volume ID."""
    return tuple(disk for disk in disks
                 if disk.device != device and disk.volume_id != volume_id)


def show(root, disk):
    """Create the node and the link below root, the running server's root directory."""
    hide(root, disk)
    os.makedirs(root + BY_ID, exist_ok=True)
    node = root + disk.device
    os.mknod(node, stat.S_IFBLK | 0o660, os.makedev(disk.major, disk.minor))
    os.chmod(node, 0o660)
    os.chown(node, 0, DISK_GROUP)
    os.symlink(disk.link_target, root + disk.link)


def hide(root, disk):
    """Delete the node and the link below root."""
    for path in (disk.link, disk.device):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(root + path)
