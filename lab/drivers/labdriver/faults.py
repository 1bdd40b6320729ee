"""Faults that tests ask for: a file named like a server says what its spawns do wrong."""
import os

ERROR = 'error'
NO_BOOT = 'no-boot'


def asked(directory, server_name):
    """Fault of this server (ERROR, NO_BOOT) or None; it meets each spawn until its file is gone."""
    path = os.path.join(directory, os.path.basename(server_name))
    try:
        with open(path, encoding='utf-8') as file:
            fault = file.read().strip()
    except (FileNotFoundError, IsADirectoryError):
        return None
    if fault not in (ERROR, NO_BOOT):
        raise ValueError('fault %r of %s: %s and %s are known' % (fault, path, ERROR, NO_BOOT))
    return fault
