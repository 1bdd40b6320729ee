"""Shares of the host."""
import unittest
from types import SimpleNamespace

from labdriver.compute import inventory


class InventoryTest(unittest.TestCase):
    MEMINFO = 'MemTotal:       24000000 kB\nMemFree: 1 kB\nMemAvailable:   20000000 kB\n'
    DISK = SimpleNamespace(f_blocks=1 << 24, f_bavail=1 << 23, f_frsize=4096)

    def test_memory(self):
        self.assertEqual(inventory.parse_memory_mb(self.MEMINFO), (23437, 19531))

    def test_two_hosts_have_half_each(self):
        self.assertEqual(inventory.compute_host_share(4, self.MEMINFO, self.DISK, 2), {
            'vcpus': 2, 'memory_mb': 11718, 'memory_mb_used': 1953, 'local_gb': 32,
            'local_gb_used': 16})

    def test_every_host_has_a_cpu(self):
        self.assertEqual(inventory.compute_host_share(1, self.MEMINFO, self.DISK, 2)['vcpus'], 1)

    def test_one_server_may_take_what_the_ratio_allows(self):
        self.assertEqual(inventory.get_placement_inventory(1, 16.0), {
            'total': 1, 'reserved': 0, 'min_unit': 1, 'max_unit': 16, 'step_size': 1,
            'allocation_ratio': 16.0})
        self.assertEqual(inventory.get_placement_inventory(1, 0.5)['max_unit'], 1)
