"""Faults that tests ask for: a file named like a server says what its next spawn does wrong."""
import os

ERROR = 'error'
NO_BOOT = 'no-boot'


def take(directory, server_name):
    """Fault asked for this server (ERROR, NO_BOOT) or None; the request is used up by it."""
    path = os.path.join(directory, os.path.basename(server_name))
    try:
        with open(path, encoding='utf-8') as file:
            fault = file.read().strip()
        os.unlink(path)
    except (FileNotFoundError, IsADirectoryError):
        return None
    if fault not in (ERROR, NO_BOOT):
        raise ValueError('fault %r of %s: %s and %s are known' % (fault, path, ERROR, NO_BOOT))
    return fault
