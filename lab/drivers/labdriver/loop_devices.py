"""Loop devices: a volume's file as a block device of the kernel."""
import json
import os
import stat

from labdriver.shell import ANY_STATUS, run

MAJOR = 7
ATTEMPTS = 20


def parse(listing, path):
    """Name of the device that serves path, from `losetup --json`; None if there is none.

    A device marked autoclear was detached while a server still had it mounted: it goes away with
    that mount, so it must not be handed out again.
    """
    for device in json.loads(listing or '{}').get('loopdevices', []):
        if device['back-file'] == path and not device['autoclear']:
            return device['name']
    return None


def find(path):
    """Loop device of a file, or None."""
    listing = run('losetup', '--json', '-O', 'NAME,BACK-FILE,AUTOCLEAR', '-j', path, ok=ANY_STATUS)
    return parse(listing, path)


def attach(path):
    """Loop device of a file, made if there is none. Others may take a free device first."""
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
    """Device node of a loop device: nobody makes it in a container."""
    if not os.path.exists(device):
        os.mknod(device, stat.S_IFBLK | 0o660, os.makedev(MAJOR, minor(device)))


def detach(path):
    """Release the loop device of a file; while a server has it mounted, it stays for that one."""
    device = find(path)
    if device:
        run('losetup', '-d', device, ok=ANY_STATUS)


def grow(path):
    """Let the loop device of a file have the file's new size, also while it is mounted."""
    run('losetup', '-c', attach(path))


def minor(device):
    """Minor number of /dev/loopN."""
    return int(device[len('/dev/loop'):])
