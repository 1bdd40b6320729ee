"""The monitor of qemu."""
import unittest

from labdriver.virtual_machines import monitor


class MonitorTest(unittest.TestCase):
    def test_a_monitor_that_is_not_there_is_named(self):
        with self.assertRaisesRegex(monitor.MonitorError, '/nonexistent/monitor'):
            monitor.Monitor('/nonexistent/monitor', patience=0)
