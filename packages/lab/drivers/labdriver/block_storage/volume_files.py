"""Volumes and snapshots as sparse files below one directory.

A copy is written under another name and then renamed, so that a killed service leaves no
incomplete volume. On btrfs, copies share their blocks until one of them is written.
"""
import contextlib
import os

from labdriver.block_storage import loop_devices
from labdriver.shell import run

GIB = 1 << 30
PART = '.part'


class VolumeFiles:
    """Files of one backend."""

    def __init__(self, directory):
        self.directory = directory
        os.makedirs(directory, exist_ok=True)

    def path(self, name):
        """Return the path of a volume or snapshot."""
        if os.path.basename(name) != name or name in ('', '.', '..'):
            raise ValueError('%r is not the name of a volume' % name)
        return os.path.join(self.directory, name)

    def create(self, name, size):
        """Create an empty volume of size GiB."""
        self._resize(self.path(name), size)

    def extend(self, name, size):
        """Grow a volume to size GiB."""
        if os.path.getsize(self.path(name)) > size * GIB:
            raise ValueError('%s cannot become smaller: %d GiB' % (name, size))
        self._resize(self.path(name), size)

    def copy(self, source, name, size=None):
        """Copy a volume or snapshot. The copy has size GiB (default: the size of the source)."""
        part = self.path(name) + PART
        run('cp', '--sparse=always', '--reflink=auto', self.path(source), part)
        if size:
            self._resize(part, max(size, os.path.getsize(part) // GIB))
        os.rename(part, self.path(name))

    def delete(self, name):
        """Delete a volume or snapshot and free its space, even if it still has a loop device."""
        loop_devices.detach(self.path(name))
        for path in (self.path(name), self.path(name) + PART):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)

    @staticmethod
    def _resize(path, size):
        with open(path, 'ab') as file:
            file.truncate(size * GIB)

    def capacity(self, backends):
        """Return the capacity of one backend in GiB. All backends have an equal share of the disk.

        `provisioned_capacity_gb` is the sum of the volumes' sizes, not of their used blocks.
        """
        disk = os.statvfs(self.directory)
        promised = sum(entry.stat().st_size for entry in os.scandir(self.directory))
        return {
            'total_capacity_gb': disk.f_blocks * disk.f_frsize / GIB / backends,
            'free_capacity_gb': disk.f_bavail * disk.f_frsize / GIB / backends,
            'provisioned_capacity_gb': promised / GIB,
        }
