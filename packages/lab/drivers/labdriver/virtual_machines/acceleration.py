"""Acceleration of emulated machines on this host: KVM, or emulation in software.

An accessible /dev/kvm does not prove that a kernel runs. A host without hardware support may
still offer the device, create virtual machines and run their firmware, while a kernel hangs
before its first line. So this module starts a kernel once and waits for its first line.
"""
import contextlib
import os
import subprocess
import tempfile
import time

from labdriver.file_lock import hold_lock
from labdriver.virtual_machines import qemu_command_line as qemu

DEVICE = '/dev/kvm'
# File in /run, so that a reboot of the host deletes the result.
REMEMBERED = '/run/lab-acceleration'
# Time limit in seconds. Under a working KVM, a kernel needs two or three seconds. A wrong result
# only costs speed.
PATIENCE = 20
POLL = 0.2
FIRST_LINE = b'Linux version'


def choose(kernel, remembered=REMEMBERED, device=DEVICE):
    """Return qemu.KVM or qemu.TCG. The first call boots the kernel at this path to find out."""
    with hold_lock(remembered + '.lock'):
        with contextlib.suppress(FileNotFoundError), open(remembered, encoding='ascii') as file:
            return file.read()
        boots = os.access(device, os.R_OK | os.W_OK) and can_boot_with_kvm(kernel)
        found = qemu.KVM if boots else qemu.TCG
        with open(remembered + '.new', 'w', encoding='ascii') as file:
            file.write(found)
        os.rename(remembered + '.new', remembered)
        return found


def can_boot_with_kvm(kernel, patience=PATIENCE):
    """Return whether the kernel prints its first line under KVM within patience seconds."""
    with tempfile.TemporaryDirectory() as directory:
        console = os.path.join(directory, 'console')
        words = [qemu.PROGRAM, '-nodefaults', '-no-user-config', '-display', 'none', '-no-reboot',
                 *qemu.ACCELERATION[qemu.KVM], '-m', '256', '-kernel', kernel, '-append',
                 'console=ttyS0,115200 earlyprintk=ttyS0,115200 panic=-1', '-serial',
                 'file:' + console]
        with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as process:
            try:
                return wait_for_first_line(console, process, time.monotonic() + patience)
            finally:
                process.kill()


def wait_for_first_line(console, process, deadline):
    """Wait for the first line on the console. Return False if the process ends or time is over."""
    while True:
        ended = process.poll() is not None
        with contextlib.suppress(FileNotFoundError), open(console, 'rb') as file:
            if FIRST_LINE in file.read():
                return True
        if ended or time.monotonic() > deadline:
            return False
        time.sleep(POLL)
