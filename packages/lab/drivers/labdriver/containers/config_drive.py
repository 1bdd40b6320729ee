"""Config drive of a server: the read-only directory /config-drive in the server.

A real config drive is an iso9660 or vfat image labelled config-2. The lab's kernels may support
neither file system, and a system container cannot load a module. cloud-init's ConfigDrive source
reads the directory /config-drive, which has the same layout, before it searches for devices.
Programs that search only for the label find no device and use the metadata service. An example
is the cloud controller manager with the search order configDrive,metadataService.
"""
import os
import shutil

MOUNT_POINT = '/config-drive'


def write(directory, files):
    """Write (relative path, text or bytes) pairs as files that only root can read."""
    fresh = directory + '.new'
    shutil.rmtree(fresh, ignore_errors=True)
    os.makedirs(fresh, mode=0o700)
    for name, content in files:
        path = os.path.normpath(os.path.join(fresh, name))
        if not path.startswith(fresh + os.sep):
            raise ValueError('%s is outside of the config drive' % name)
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o400), 'wb') as file:
            file.write(content.encode() if isinstance(content, str) else content)
    shutil.rmtree(directory, ignore_errors=True)
    os.rename(fresh, directory)
