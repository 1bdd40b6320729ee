"""btrfs subvolumes: an image is one, a server's root file system is a snapshot of it (30 ms).

Not an overlay, so that servers can run containerd and others that make overlays themselves.
"""
import os
import shutil

from labdriver.shell import run, succeeds


def create(path):
    """Make an empty subvolume."""
    run('btrfs', 'subvolume', 'create', path)


def snapshot(source, path):
    """Make a writable copy of a subvolume."""
    run('btrfs', 'subvolume', 'snapshot', source, path)


def delete(path):
    """Remove a subvolume; also one that a server has filled with subvolumes of its own."""
    if not os.path.lexists(path) or succeeds('btrfs', 'subvolume', 'delete', path):
        return
    for child in nested(path):
        delete(child)
    if not succeeds('btrfs', 'subvolume', 'delete', path):
        shutil.rmtree(path)


def nested(path):
    """Subvolumes directly inside a subvolume (systemd-tmpfiles makes some)."""
    own = run('btrfs', 'subvolume', 'show', path).splitlines()[0].strip()
    listing = run('btrfs', 'subvolume', 'list', '-o', path)
    return [os.path.join(path, name) for name in names_below(own, listing)]


def names_below(own, listing):
    """Paths relative to subvolume `own`, from `btrfs subvolume list -o`."""
    names = [line.split(' path ', 1)[1] for line in listing.splitlines() if ' path ' in line]
    return [name[len(own) + 1:] for name in names if name.startswith(own + '/')]
