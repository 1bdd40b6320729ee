"""console.py LOG COMMAND...: run COMMAND on its own terminal and append its output to LOG.

Exits with the status of COMMAND (128 + signal if a signal ended COMMAND). Truncates the log at
4 MiB. Ignores the signals of `systemctl stop`: the unit's ExecStop stops the server, and then
COMMAND ends.
"""
import os
import pty
import signal
import sys

LIMIT = 4 << 20
IGNORED = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


def copy(terminal, log):
    """Append the output of the terminal to the log until the terminal is closed."""
    while True:
        try:
            data = os.read(terminal, 65536)
        except OSError:     # EIO: no process has the terminal open
            return
        if not data:
            return
        if os.fstat(log).st_size > LIMIT:
            os.ftruncate(log, 0)
        os.write(log, data)


def get_exit_status(wait_status):
    """Return the exit status as a shell reports it."""
    code = os.waitstatus_to_exitcode(wait_status)
    return code if code >= 0 else 128 - code


def main(log_path, *command):
    """Run the command and return its exit status."""
    for number in IGNORED:
        signal.signal(number, signal.SIG_IGN)
    pid, terminal = pty.fork()
    if not pid:
        for number in IGNORED:
            signal.signal(number, signal.SIG_DFL)
        os.execvp(command[0], command)
    log = os.open(log_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    copy(terminal, log)
    return get_exit_status(os.waitpid(pid, 0)[1])


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
