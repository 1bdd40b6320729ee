"""The console of a server."""
import os
import signal
import subprocess
import sys
import time

from labdriver.containers import console
from tests.support import DirectoryTest


class ConsoleTest(DirectoryTest):
    def setUp(self):
        super().setUp()
        self.log = os.path.join(self.directory, 'console.log')

    def start(self, *command):
        return subprocess.Popen([sys.executable, '-I', console.__file__, self.log, *command],
                                stdin=subprocess.DEVNULL)

    def text(self):
        with open(self.log, encoding='utf-8') as file:
            return file.read()

    def test_command_has_a_terminal(self):
        self.assertEqual(self.start('sh', '-c', 'test -t 0 && test -t 1 && echo yes').wait(10), 0)
        self.assertEqual(self.text(), 'yes\n')

    def test_status_is_the_one_of_the_command(self):
        self.assertEqual(self.start('sh', '-c', 'exit 129').wait(10), 129)
        self.assertEqual(self.start('sh', '-c', 'kill -KILL $$').wait(10), 137)

    def test_log_is_appended(self):
        for word in ('first', 'second'):
            self.start('echo', word).wait(10)
        self.assertEqual(self.text(), 'first\nsecond\n')

    def test_log_is_bounded(self):
        with open(self.log, 'wb') as file:
            file.truncate(console.LIMIT + 1)
        self.start('echo', 'fresh').wait(10)
        self.assertEqual(self.text(), 'fresh\n')

    def test_stop_signals_are_not_for_the_console(self):
        process = self.start('sh', '-c', 'echo up; sleep 1; echo down')
        deadline = time.monotonic() + 10
        while not os.path.exists(self.log) or 'up' not in self.text():
            self.assertLess(time.monotonic(), deadline, 'the command does not start')
            time.sleep(0.02)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(10), 0)
        self.assertIn('down', self.text())
