"""One load balancer on this host: a network namespace and, if there is a listener, haproxy.

haproxy runs in its own transient unit and keeps running without the agent. The kernel forwards
UDP, in the same namespace.
"""
import csv
import hashlib
import os
import shutil
import socket
import time

from labdriver import network
from labdriver.load_balancers import haproxy, udp_rules
from labdriver.shell import ANY_STATUS, CommandError, run, succeeds

START_TIMEOUT = 5
POLL = 0.05


class HaproxyError(Exception):
    """haproxy refuses the configuration or does not start. A retry would not help."""


class HaproxyInstance:
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
        """Return whether the load balancer has its address already."""
        return (os.path.exists(network.NAMESPACES + self.namespace)
                and self.has_port(self.balancer.vip.port_id))

    @staticmethod
    def has_port(port_id):
        """Return whether a port of the load balancer is plugged."""
        return os.path.exists(network.LINKS + network.get_tap_name(port_id))

    def connect(self, port, prefix, gateway):
        """Give the load balancer its address.

        port: fields as for network.plug. prefix: prefix length of the subnet. gateway: address or
        None.
        """
        address = self.balancer.vip.ip_address
        network.ensure_namespace(self.namespace)
        network.plug(port, self.namespace, 'eth0')
        v6 = ['nodad'] if ':' in address else []
        run('ip', '-n', self.namespace, 'addr', 'replace', '%s/%s' % (address, prefix),
            'dev', 'eth0', *v6)
        if gateway:
            run('ip', '-n', self.namespace, 'route', 'replace', 'default', 'via', gateway)
        delete_if_exists(self.rules)      # a new namespace has no rules

    def join(self, port, address, prefix):
        """Give the load balancer an address in a subnet of its members. Keep the default route."""
        device = 'mem' + port['id'][:11]
        network.plug(port, self.namespace, device)
        run('ip', '-n', self.namespace, 'addr', 'replace', '%s/%s' % (address, prefix),
            'dev', device)

    def apply(self, certificates=None):
        """Configure haproxy and the kernel from the database. Return when both are ready.

        certificates: {listener's id: PEM texts} of listeners that terminate TLS.
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
        self.forward(self.statistics() if haproxy.list_check_only_pools(self.balancer) else [])
        self._drop_certificates_but({path for some in paths.values() for path in some})

    def _keep(self, pem):
        """Write a certificate with its key, readable only by root, to a file named after its
        digest. Return the path."""
        path = os.path.join(self.certificates, hashlib.sha256(pem).hexdigest() + '.pem')
        os.makedirs(self.certificates, mode=0o700, exist_ok=True)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), 'wb') as file:
            file.write(pem)
        return path

    def _drop_certificates_but(self, wanted):
        if os.path.isdir(self.certificates):
            found = {os.path.join(self.certificates, name)
                     for name in os.listdir(self.certificates)}
            delete_if_exists(*(found - wanted))

    def forward(self, rows):
        """Make the kernel forward UDP to healthy members. rows: the statistics of haproxy."""
        wanted, before = udp_rules.render(self.balancer, rows), read_if_exists(self.rules)
        if wanted == before:
            return
        fresh = self.rules + '.new'
        with open(fresh, 'w', encoding='utf-8') as file:
            file.write(wanted or udp_rules.NOTHING)
        gone = udp_rules.parse_allowed_flows(before) - udp_rules.parse_allowed_flows(wanted)
        network.apply_forwarding_rules(self.namespace, fresh,
                                       {(port, address) for port, address, _ in gone})
        os.rename(fresh, self.rules) if wanted else delete_if_exists(fresh, self.rules)

    def _current(self):
        return read_if_exists(self.configuration)

    def _write(self, text):
        """Replace the configuration file only if haproxy accepts the new file."""
        fresh = self.configuration + '.new'
        with open(fresh, 'w', encoding='utf-8') as file:
            file.write(text)
        try:
            run('haproxy', '-c', '-q', '-f', fresh)
        except CommandError as error:
            raise HaproxyError('haproxy refuses the configuration: %s' % error) from error
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
        """Wait until the running haproxy has exactly the wanted listeners and members."""
        wanted = haproxy.list_expected_ids(self.balancer)
        deadline = time.monotonic() + START_TIMEOUT
        while self.known() != wanted:
            if time.monotonic() > deadline:
                log = run('journalctl', '-q', '-o', 'cat', '-n', '5', '-u', self.unit,
                          ok=ANY_STATUS)
                raise HaproxyError('haproxy does not start: %s' % log.strip())
            time.sleep(POLL)

    def known(self):
        """Return the IDs of the listeners and members that the running haproxy has."""
        try:
            rows = self.statistics()
        except OSError:
            return None
        return {row['pxname'] if row['svname'] == 'FRONTEND' else row['svname']
                for row in rows if row['svname'] != 'BACKEND'}

    def statistics(self):
        """Return the rows of haproxy's `show stat`."""
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(2)
            client.connect(self.socket)
            client.sendall(b'show stat\n')
            answer = b''
            while chunk := client.recv(65536):
                answer += chunk
        return parse_statistics(answer.decode())

    def is_listening(self):
        """Return whether the statistics socket of haproxy exists."""
        return os.path.exists(self.socket)

    def _stop(self):
        run('systemctl', 'stop', self.unit, ok=ANY_STATUS)
        delete_if_exists(self.socket, self.configuration)

    def remove(self):
        """Remove everything that belongs to the load balancer on this host."""
        self._stop()
        network.unplug(self.balancer.vip.port_id)
        network.remove_namespace(self.namespace)
        shutil.rmtree(self.directory, ignore_errors=True)


def read_if_exists(path):
    """Return the text of a file, or an empty text if the file does not exist."""
    try:
        with open(path, encoding='utf-8') as file:
            return file.read()
    except FileNotFoundError:
        return ''


def delete_if_exists(*paths):
    """Delete those of the files that exist."""
    for path in paths:
        if os.path.exists(path):
            os.unlink(path)


def parse_statistics(text):
    """Return the rows of haproxy's statistics, as dictionaries."""
    return list(csv.DictReader(text.lstrip('# ').splitlines()))
