"""Faults that tests inject into the creation of servers. A file named after the server contains its
fault."""
import os

ERROR = 'error'
NO_BOOT = 'no-boot'


def find_fault(directory, server_name):
    """Return the fault of a server (ERROR or NO_BOOT), or None.

    The fault applies to each spawn of the server until a test deletes the file.
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
