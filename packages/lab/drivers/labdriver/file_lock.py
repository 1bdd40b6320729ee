"""A lock between processes and between the green threads of one process.

The lock uses a non-blocking flock() and retries. In nova-compute, a blocking call would stop all
green threads, including the thread that holds the lock.
"""
import contextlib
import fcntl
import os
import time

INTERVAL = 0.1


@contextlib.contextmanager
def hold_lock(path, timeout=600):
    """Hold the lock file at path. Raise TimeoutError after timeout seconds.

    The kernel releases the lock of a killed process.
    """
    deadline = time.monotonic() + timeout
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        while not try_lock(descriptor):
            if time.monotonic() > deadline:
                raise TimeoutError('%s is held for longer than %s s' % (path, timeout))
            time.sleep(INTERVAL)
        yield
    finally:
        os.close(descriptor)


def try_lock(descriptor):
    """Try to take the lock. Return whether the lock was free."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
