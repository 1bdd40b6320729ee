"""A lock between processes."""
import multiprocessing
import os

from labdriver import file_lock
from tests.support import DirectoryTest


def hold(path, held, release):
    """Hold a lock until the event `release` is set. Runs in a separate process."""
    with file_lock.hold_lock(path):
        held.set()
        release.wait(10)


class FileLockTest(DirectoryTest):
    def setUp(self):
        super().setUp()
        self.lock = os.path.join(self.directory, 'lock')
        self.held, self.release = multiprocessing.Event(), multiprocessing.Event()
        self.other = multiprocessing.Process(target=hold,
                                             args=(self.lock, self.held, self.release))

    def test_another_process_waits(self):
        self.other.start()
        self.held.wait(10)
        with self.assertRaises(TimeoutError):
            with file_lock.hold_lock(self.lock, timeout=0.2):
                self.fail('two processes hold the lock')
        self.release.set()
        with file_lock.hold_lock(self.lock, timeout=10):
            pass
        self.other.join()

    def test_a_killed_process_holds_nothing(self):
        self.other.start()
        self.held.wait(10)
        self.other.kill()
        with file_lock.hold_lock(self.lock, timeout=10):
            pass
        self.other.join()

    def test_the_same_process_waits_too(self):
        with file_lock.hold_lock(self.lock):
            with self.assertRaises(TimeoutError):
                with file_lock.hold_lock(self.lock, timeout=0):
                    self.fail('the lock is held twice')

    def test_an_exception_releases_it(self):
        with self.assertRaises(KeyError):
            with file_lock.hold_lock(self.lock):
                raise KeyError
        with file_lock.hold_lock(self.lock, timeout=0):
            pass
