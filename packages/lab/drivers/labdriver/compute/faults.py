"""Faults for tests. A file with the name of a server contains the fault for each spawn of the
server."""
import os

ERROR = 'error'
NO_BOOT = 'no-boot'


def find_fault(directory, server_name):
    """Return the server's fault (ERROR, NO_BOOT), if any.

    It affects each spawn until the file is deleted.
    """
    path = os.path.join(directory, os.path.basename(server_name))
    try:
        with open(path, encoding='utf-8') as file:
            fault = file.read().strip()
    except (FileNotFoundError, IsADirectoryError):
        return None
    if fault not in (ERROR, NO_BOOT):
        raise ValueError('fault %r of %s: %s and %s are known' % (fault, path, ERROR, NO_BOOT))
    return fault
