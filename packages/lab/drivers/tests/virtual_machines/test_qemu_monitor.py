"""The monitor of qemu."""
import unittest

from labdriver.virtual_machines import qemu_monitor


class QemuMonitorTest(unittest.TestCase):
    def test_a_monitor_that_is_not_there_is_named(self):
        with self.assertRaisesRegex(qemu_monitor.QemuMonitorError, '/nonexistent/monitor'):
            qemu_monitor.QemuMonitor('/nonexistent/monitor', patience=0)
