"""Loop devices: a volume's file as a block device of the kernel."""
import json
import os
import stat

from labdriver.shell import ANY_STATUS, run

MAJOR = 7
ATTEMPTS = 20


def parse(listing, path):
    """Return the device of the file path in `losetup --json`, or None if there is no device.

    A device marked autoclear was detached while a server still had it mounted. It disappears
    with the mount, so it must not be used again.
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
    """Return the loop device of a file. Create it if needed.

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
    """Create the device node of a loop device. In a container, no udev does this."""
    if not os.path.exists(device):
        os.mknod(device, stat.S_IFBLK | 0o660, os.makedev(MAJOR, get_minor(device)))


def detach(path):
    """Release the loop device of a file. The kernel keeps it until no server has it mounted."""
    device = find(path)
    if device:
        run('losetup', '-d', device, ok=ANY_STATUS)


def grow(path):
    """Grow the loop device of a file to the file's new size, also while it is mounted."""
    run('losetup', '-c', attach(path))


def get_minor(device):
    """Return the minor number of /dev/loopN."""
    return int(device[len('/dev/loop'):])
