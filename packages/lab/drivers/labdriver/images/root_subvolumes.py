"""btrfs subvolumes: one for each image, and one for the root file system of each server.

A server's root is a snapshot of its image's subvolume (30 ms). Servers do not use overlayfs, so
that containerd and other programs can create overlays inside a server.
"""
import os
import shutil

from labdriver.shell import run, succeeds


def create(path):
    run('btrfs', 'subvolume', 'create', path)


def snapshot(source, path):
    """Create a writable copy of a subvolume."""
    run('btrfs', 'subvolume', 'snapshot', source, path)


def delete(path):
    """Delete a subvolume, including subvolumes that a server has created in it."""
    if not os.path.lexists(path) or succeeds('btrfs', 'subvolume', 'delete', path):
        return
    for child in list_nested(path):
        delete(child)
    if not succeeds('btrfs', 'subvolume', 'delete', path):
        shutil.rmtree(path)


def list_nested(path):
    """Return the subvolumes directly inside a subvolume (systemd-tmpfiles creates some)."""
    own = run('btrfs', 'subvolume', 'show', path).splitlines()[0].strip()
    listing = run('btrfs', 'subvolume', 'list', '-o', path)
    return [os.path.join(path, name) for name in parse_nested_names(own, listing)]


def parse_nested_names(own, listing):
    """Return paths relative to subvolume `own`, from `btrfs subvolume list -o`."""
    names = [line.split(' path ', 1)[1] for line in listing.splitlines() if ' path ' in line]
    return [name[len(own) + 1:] for name in names if name.startswith(own + '/')]
