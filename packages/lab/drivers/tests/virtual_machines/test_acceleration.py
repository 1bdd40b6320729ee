"""Choice between KVM and emulation in software."""
import os
import subprocess
import sys
import time
from unittest import mock

from labdriver.virtual_machines import acceleration, qemu_command_line as qemu
from tests.support import DirectoryTest
from tests.virtual_machines.blank_kernel import blank_kernel


class AccelerationTest(DirectoryTest):
    def setUp(self):
        super().setUp()
        self.remembered = self.directory + '/remembered'
        self.device = self.directory + '/kvm'

    def choose(self, device=None):
        return acceleration.choose('/kernel', self.remembered, device or self.device)

    def test_without_the_device_nothing_is_tried(self):
        with mock.patch('labdriver.virtual_machines.acceleration.can_boot_with_kvm') as boots:
            self.assertEqual(self.choose(), qemu.TCG)
        boots.assert_not_called()

    def test_a_kernel_decides_once(self):
        for answer, found in ((True, qemu.KVM), (False, qemu.TCG)):
            with mock.patch('labdriver.virtual_machines.acceleration.can_boot_with_kvm',
                            return_value=answer) as boots:
                self.assertEqual([self.choose('/dev/null') for _ in range(2)], [found] * 2)
            boots.assert_called_once_with('/kernel')
            os.unlink(self.remembered)

    def program(self, script):
        path = self.directory + '/qemu'
        with open(path, 'w', encoding='ascii') as file:
            file.write('#!%s\nimport sys, time\nconsole = open(sys.argv[-1][5:], "w")\n%s\n'
                       % (sys.executable, script))
        os.chmod(path, 0o755)
        return mock.patch('labdriver.virtual_machines.qemu_command_line.PROGRAM', path)

    def test_a_kernel_that_prints_its_first_line_runs(self):
        with self.program('print("[ 0.0] Linux version 6.1", file=console, flush=True)\n'
                          'time.sleep(60)'):
            began = time.monotonic()
            self.assertTrue(acceleration.can_boot_with_kvm('/kernel'))
            self.assertLess(time.monotonic() - began, 30)

    def test_a_kernel_that_hangs_behind_the_firmware_does_not(self):
        with self.program('print("Probing EDD", file=console, flush=True)\ntime.sleep(60)'):
            self.assertFalse(acceleration.can_boot_with_kvm('/kernel', patience=0.5))

    def test_a_qemu_that_ends_is_not_waited_for(self):
        with self.program('sys.exit(1)'):
            began = time.monotonic()
            self.assertFalse(acceleration.can_boot_with_kvm('/kernel', patience=60))
            self.assertLess(time.monotonic() - began, 30)

    def test_the_real_qemu_takes_the_words(self):
        blank_kernel(self.directory + '/kernel')
        with mock.patch.dict(qemu.ACCELERATION, {qemu.KVM: qemu.ACCELERATION[qemu.TCG]}):
            with mock.patch('subprocess.Popen', wraps=subprocess.Popen) as popen:
                kernel = self.directory + '/kernel'
                self.assertFalse(acceleration.can_boot_with_kvm(kernel, patience=1))
        self.assertEqual(popen.call_count, 1)
