"""One load balancer on this machine: a network namespace and, when there is a listener, haproxy.

haproxy runs in a transient unit of its own and outlives the agent. UDP is passed on by the kernel,
in the same namespace.
"""
import csv
import hashlib
import os
import shutil
import socket
import time

from labdriver import forwarding, haproxy, network
from labdriver.shell import ANY_STATUS, CommandError, run, succeeds

START_TIMEOUT = 5
POLL = 0.05


class FrontError(Exception):
    """haproxy does not do what the load balancer asks for; trying again would not help."""


class Front:
    """Names, paths and actions of one load balancer."""

    def __init__(self, directory, balancer):
        self.balancer = balancer
        self.namespace = 'lb-' + balancer.id[:13]
        self.unit = 'lab-lb-%s.service' % balancer.id
        self.directory = os.path.join(directory, balancer.id)
        self.configuration = os.path.join(self.directory, 'haproxy.cfg')
        self.rules = os.path.join(self.directory, 'forwarding.nft')
        self.certificates = os.path.join(self.directory, 'certificates')
        self.socket = os.path.join(self.directory, 'stats')

    def has_network(self):
        """Tell whether the load balancer's address is reachable already."""
        return (os.path.exists(network.NAMESPACES + self.namespace)
                and self.has_port(self.balancer.vip.port_id))

    @staticmethod
    def has_port(port_id):
        """Tell whether a port of the load balancer is plugged."""
        return os.path.exists(network.LINKS + network.tap_name(port_id))

    def connect(self, port, prefix, gateway):
        """Give the load balancer its address: port as for network.plug, prefix length, gateway."""
        address = self.balancer.vip.ip_address
        network.ensure_namespace(self.namespace)
        network.plug(port, self.namespace, 'eth0')
        v6 = ['nodad'] if ':' in address else []
        run('ip', '-n', self.namespace, 'addr', 'replace', '%s/%s' % (address, prefix),
            'dev', 'eth0', *v6)
        if gateway:
            run('ip', '-n', self.namespace, 'route', 'replace', 'default', 'via', gateway)
        forget(self.rules)      # a new namespace has none

    def join(self, port, address, prefix):
        """Give the load balancer an address in a subnet of its members, without another way out."""
        device = 'mem' + port['id'][:11]
        network.plug(port, self.namespace, device)
        run('ip', '-n', self.namespace, 'addr', 'replace', '%s/%s' % (address, prefix),
            'dev', device)

    def apply(self, certificates=None):
        """Let haproxy and the kernel do what the database says; return when they do.

        certificates: {listener's id: PEM texts} of listeners that end TLS.
        """
        os.makedirs(self.directory, exist_ok=True)
        paths = {name: [self._keep(pem) for pem in pems]
                 for name, pems in (certificates or {}).items()}
        wanted = haproxy.render(self.balancer, self.socket, paths)
        runs = succeeds('systemctl', 'is-active', '--quiet', self.unit)
        if not wanted:
            self._stop()
        elif wanted != self._current() or not runs:
            self._write(wanted)
            self._reload() if runs else self._start()
            self._await()
        self.forward(self.statistics() if haproxy.watched(self.balancer) else [])
        self._drop_certificates_but({path for some in paths.values() for path in some})

    def _keep(self, pem):
        """Write a certificate with its key, for root only; its name says what is in it."""
        path = os.path.join(self.certificates, hashlib.sha256(pem).hexdigest() + '.pem')
        os.makedirs(self.certificates, mode=0o700, exist_ok=True)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), 'wb') as file:
            file.write(pem)
        return path

    def _drop_certificates_but(self, wanted):
        if os.path.isdir(self.certificates):
            found = {os.path.join(self.certificates, name)
                     for name in os.listdir(self.certificates)}
            forget(*(found - wanted))

    def forward(self, rows):
        """Let the kernel pass UDP on to the members that rows, haproxy's statistics, call well."""
        wanted, before = forwarding.render(self.balancer, rows), content(self.rules)
        if wanted == before:
            return
        fresh = self.rules + '.new'
        with open(fresh, 'w', encoding='utf-8') as file:
            file.write(wanted or forwarding.NOTHING)
        gone = forwarding.targets(before) - forwarding.targets(wanted)
        network.forward(self.namespace, fresh, {(port, address) for port, address, _ in gone})
        os.rename(fresh, self.rules) if wanted else forget(fresh, self.rules)

    def _current(self):
        return content(self.configuration)

    def _write(self, text):
        """Replace the file only by one that haproxy accepts."""
        fresh = self.configuration + '.new'
        with open(fresh, 'w', encoding='utf-8') as file:
            file.write(text)
        try:
            run('haproxy', '-c', '-q', '-f', fresh)
        except CommandError as error:
            raise FrontError('haproxy refuses the configuration: %s' % error) from error
        os.rename(fresh, self.configuration)

    def _start(self):
        run('systemctl', 'reset-failed', self.unit, ok=ANY_STATUS)
        run('systemd-run', '--quiet', '--collect', '--unit', self.unit,
            '-p', 'Description=load balancer %s' % self.balancer.id,
            '-p', 'NetworkNamespacePath=%s%s' % (network.NAMESPACES, self.namespace),
            '-p', 'Restart=on-failure', '-p', 'KillMode=mixed', '-p', 'TimeoutStopSec=3',
            '-p', 'SuccessExitStatus=143',
            '/usr/sbin/haproxy', '-Ws', '-f', self.configuration)

    def _reload(self):
        run('systemctl', 'kill', '--kill-who=main', '--signal=USR2', self.unit)

    def _await(self):
        """Wait until the running haproxy has exactly the listeners and members wanted."""
        wanted = haproxy.names(self.balancer)
        deadline = time.monotonic() + START_TIMEOUT
        while self.known() != wanted:
            if time.monotonic() > deadline:
                log = run('journalctl', '-q', '-o', 'cat', '-n', '5', '-u', self.unit,
                          ok=ANY_STATUS)
                raise FrontError('haproxy does not start: %s' % log.strip())
            time.sleep(POLL)

    def known(self):
        """Ids of the listeners and members that the running haproxy has."""
        try:
            rows = self.statistics()
        except OSError:
            return None
        return {row['pxname'] if row['svname'] == 'FRONTEND' else row['svname']
                for row in rows if row['svname'] != 'BACKEND'}

    def statistics(self):
        """Rows of haproxy's `show stat`."""
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(2)
            client.connect(self.socket)
            client.sendall(b'show stat\n')
            answer = b''
            while chunk := client.recv(65536):
                answer += chunk
        return parse_statistics(answer.decode())

    def is_listening(self):
        """Tell whether haproxy has been started."""
        return os.path.exists(self.socket)

    def _stop(self):
        run('systemctl', 'stop', self.unit, ok=ANY_STATUS)
        forget(self.socket, self.configuration)

    def remove(self):
        """Remove everything that belongs to the load balancer on this machine."""
        self._stop()
        network.unplug(self.balancer.vip.port_id)
        network.remove_namespace(self.namespace)
        shutil.rmtree(self.directory, ignore_errors=True)


def content(path):
    """Text of a file; empty when it is not there."""
    try:
        with open(path, encoding='utf-8') as file:
            return file.read()
    except FileNotFoundError:
        return ''


def forget(*paths):
    """Delete files that are there."""
    for path in paths:
        if os.path.exists(path):
            os.unlink(path)


def parse_statistics(text):
    """Rows of haproxy's statistics, as dictionaries."""
    return list(csv.DictReader(text.lstrip('# ').splitlines()))
