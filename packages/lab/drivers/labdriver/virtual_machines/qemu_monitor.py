"""qemu's monitor: commands and events of its JSON protocol (QMP)."""
import json
import socket
import time

RETRY = 0.1


class QemuMonitorError(Exception):
    """qemu refused a command or did not answer in time. str() gives the reason."""


class QemuMonitor:
    """Context manager with a connection to the socket of qemu's monitor.

    qemu serves one connection at a time, so open a connection only for one action. qemu may not
    listen yet when its process ID is known, so the constructor retries for patience seconds.
    timeout: longest wait for one answer in seconds.
    """

    def __init__(self, path, patience=10, timeout=30):
        self._events = []
        self._timeout = timeout
        self._socket = connect_socket(path, time.monotonic() + patience)
        self._socket.settimeout(timeout)
        self._lines = self._socket.makefile('r', encoding='utf-8')
        self._next()    # qemu's greeting
        self('qmp_capabilities')

    def __enter__(self):
        return self

    def __exit__(self, *_raised):
        self._lines.close()
        self._socket.close()

    def __call__(self, command, arguments=None):
        """Run a command; return its result."""
        request = {'execute': command, 'arguments': arguments or {}}
        self._socket.sendall(json.dumps(request).encode() + b'\n')
        while True:
            answer = self._next()
            if 'error' in answer:
                raise QemuMonitorError('%s: %s' % (command, answer['error'].get('desc')))
            if 'return' in answer:
                return answer['return']
            self._events.append(answer)

    def await_event(self, name, device, timeout):
        """Wait for an event of the device, including events already received on this connection."""
        self._socket.settimeout(timeout)
        try:
            while not any(is_event(each, name, device) for each in self._events):
                self._events.append(self._next())
        finally:
            self._socket.settimeout(self._timeout)

    def _next(self):
        try:
            line = self._lines.readline()
        except OSError as error:
            raise QemuMonitorError('qemu does not answer: %s' % error) from error
        if not line:
            raise QemuMonitorError('qemu ended')
        return json.loads(line)


def is_event(message, name, device):
    """Return whether a message is this event of this device."""
    return message.get('event') == name and message.get('data', {}).get('device') == device


def connect_socket(path, deadline):
    """Return a socket that is connected to path. Retry until the deadline."""
    while True:
        tried = socket.socket(socket.AF_UNIX)
        try:
            tried.connect(path)
            return tried
        except (FileNotFoundError, ConnectionRefusedError) as error:
            tried.close()
            if time.monotonic() > deadline:
                raise QemuMonitorError('qemu has no monitor at %s: %s' % (path, error)) from error
            time.sleep(RETRY)
