"""Loop devices: a volume's file as a block device of the kernel."""
import json
import os
import stat

from labdriver.shell import ANY_STATUS, run

MAJOR = 7
ATTEMPTS = 20


def parse(listing, path):
    """Return the loop device of the file at path, or None. listing: output of `losetup --json`.

    Skip devices marked autoclear. Such a device was detached while a server had it mounted, and
    the kernel removes the device after the unmount.
    """
    for device in json.loads(listing or '{}').get('loopdevices', []):
        if device['back-file'] == path and not device['autoclear']:
            return device['name']
    return None


def find(path):
    """Return the loop device of a file, or None."""
    listing = run('losetup', '--json', '-O', 'NAME,BACK-FILE,AUTOCLEAR', '-j', path, ok=ANY_STATUS)
    return parse(listing, path)


def attach(path):
    """Return the loop device of a file. Create the device if it does not exist.

    Other processes may take a free device first, so this function tries several times.
    """
    device = find(path)
    for _ in range(ATTEMPTS):
        if device:
            return device
        free = run('losetup', '-f').strip()
        make_node(free)
        run('losetup', free, path, ok=ANY_STATUS)
        device = find(path)
    raise RuntimeError('no loop device for %s' % path)


def make_node(device):
    """Create the device node of a loop device, because a container has no udev."""
    if not os.path.exists(device):
        os.mknod(device, stat.S_IFBLK | 0o660, os.makedev(MAJOR, get_minor(device)))


def detach(path):
    """Detach the loop device of a file. The kernel keeps the device until its last unmount."""
    device = find(path)
    if device:
        run('losetup', '-d', device, ok=ANY_STATUS)


def grow(path):
    """Grow the loop device of a file to the file's new size. The device may be mounted."""
    run('losetup', '-c', attach(path))


def get_minor(device):
    """Return the minor number of /dev/loopN."""
    return int(device[len('/dev/loop'):])
