"""Octavia provider agent: makes load balancers match Octavia's database.

Every 0.3 s, the agent processes all load balancers in a PENDING_... status, and all load balancers
that it has not processed since its start. The agent may be killed at any time. The agent
retries temporary failures (Neutron does not answer) for a minute. If haproxy refuses the
configuration, the status becomes ERROR immediately, and the log contains the reason.
"""
import time

from octavia.db import api as database
from octavia.db import models
from octavia_lib.api.drivers import driver_lib
from oslo_log import log as logging

from labdriver.load_balancers import certificates, haproxy, statuses
from labdriver.load_balancers.haproxy_instance import HaproxyError, HaproxyInstance
from labdriver.load_balancers.octavia import (
    OWNER, create_neutron_client, get_device_id, get_port_fields)
from labdriver.network import get_port_address

LOG = logging.getLogger(__name__)
DIRECTORY = '/srv/lab/octavia'
INTERVAL = 0.3
HEALTH_INTERVAL = 1.5
PATIENCE = 60
PROVIDERS = ('amphora', 'lab')


class Agent:
    """Agent with its state between two passes. The state is empty after a restart of the agent."""

    def __init__(self, library, clock=time.monotonic):
        self.library = library
        self.clock = clock
        self.applied = set()
        self.failing_since = {}
        self.next_health = 0
        self.last_statistics = {}

    def look(self):
        """Process load balancers that are pending. Report the health of the others periodically."""
        healthy = self.clock() >= self.next_health
        if healthy:
            self.next_health = self.clock() + HEALTH_INTERVAL
        session = database.get_session()
        try:
            for balancer_id, status in self._ids(session):
                pending = status.startswith('PENDING')
                if pending or healthy or balancer_id not in self.applied:
                    self._visit(session, balancer_id)
        finally:
            session.close()

    @staticmethod
    def _ids(session):
        balancer = models.LoadBalancer
        with session.begin():
            return session.query(balancer.id, balancer.provisioning_status).filter(
                balancer.provider.in_(PROVIDERS),
                balancer.provisioning_status.notin_(('DELETED', 'ERROR'))).all()

    def _visit(self, session, balancer_id):
        with session.begin():
            balancer = session.query(models.LoadBalancer).get(balancer_id)
            try:
                self._handle(balancer)
                self.failing_since.pop(balancer_id, None)
            except Exception as error:
                self._fail(balancer, error)
        session.expire_all()

    def _handle(self, balancer):
        instance = HaproxyInstance(DIRECTORY, balancer)
        if statuses.is_pending_delete(balancer):
            self._remove(instance)
        elif statuses.is_pending(balancer) or balancer.id not in self.applied:
            if not instance.has_network():
                connect_vip(instance)
            connect_member_subnets(instance)
            instance.apply(certificates.fetch(balancer))
            self.applied.add(balancer.id)
        elif instance.is_listening():
            self._report_health(instance)
            return
        report = statuses.get_success_report(balancer)
        if report:
            self.library.update_loadbalancer_status(report)

    def _remove(self, instance):
        balancer = instance.balancer
        instance.remove()
        release_ports(balancer)
        self.applied.discard(balancer.id)
        self.last_statistics.pop(balancer.id, None)

    def _report_health(self, instance):
        rows = instance.statistics()
        instance.forward(rows)
        report = statuses.get_observed_report(instance.balancer, rows)
        if report:
            self.library.update_loadbalancer_status(report)
        listeners = statuses.get_listener_statistics(rows)
        if listeners != self.last_statistics.get(instance.balancer.id):
            self.last_statistics[instance.balancer.id] = listeners
            self.library.update_listener_statistics({'listeners': listeners})

    def _fail(self, balancer, error):
        if balancer.id not in self.failing_since:
            LOG.exception('load balancer %s', balancer.id)
        self.applied.discard(balancer.id)   # something may be missing, so apply everything again
        since = self.failing_since.setdefault(balancer.id, self.clock())
        final = isinstance(error, HaproxyError) or self.clock() - since > PATIENCE
        if final and statuses.is_pending(balancer):
            self.failing_since.pop(balancer.id)
            self.library.update_loadbalancer_status(statuses.get_failure_report(balancer))


def connect_vip(instance):
    """Connect a load balancer to the Neutron port of its address."""
    client, vip = create_neutron_client(), instance.balancer.vip
    port = client.show_port(vip.port_id)['port']
    subnet = client.show_subnet(vip.subnet_id)['subnet']
    instance.connect(get_plug_fields(client, port), subnet['cidr'].split('/')[1],
                     subnet['gateway_ip'])


def get_plug_fields(client, port):
    """Return the fields of a port that network.plug needs."""
    mtu = client.show_network(port['network_id'])['network']['mtu']
    return {'id': port['id'], 'mac': port['mac_address'], 'mtu': mtu}


def connect_member_subnets(instance):
    """Connect a load balancer to the subnets of its members, as Octavia documents for amphorae.

    The ports belong to the service, not to the tenant. They are deleted with the load balancer.
    """
    balancer = instance.balancer
    wanted = haproxy.list_member_subnets(balancer)
    if not wanted:
        return
    client = create_neutron_client()
    known = {one['subnet_id']: port for port in list_member_ports(client, balancer)
             for one in port['fixed_ips']}
    for subnet_id in wanted:
        port = known.get(subnet_id)
        if port and instance.has_port(port['id']):
            continue
        subnet = client.show_subnet(subnet_id)['subnet']
        if not port:
            port = client.create_port({'port': dict(
                get_port_fields(balancer.id), name='octavia-lb-member-' + balancer.id,
                network_id=subnet['network_id'], fixed_ips=[{'subnet_id': subnet_id}])})['port']
        instance.join(get_plug_fields(client, port),
                      get_port_address(port, subnet_id)['ip_address'],
                      subnet['cidr'].split('/')[1])


def list_member_ports(client, balancer):
    """Return the ports of a load balancer except the port of its address."""
    ports = client.list_ports(device_id=get_device_id(balancer.id), device_owner=OWNER)['ports']
    return [port for port in ports if port['id'] != balancer.vip.port_id]


def release_ports(balancer):
    """Delete the ports. If the user created the port of the address, only detach that port."""
    vip, client = balancer.vip, create_neutron_client()
    for port in list_member_ports(client, balancer):
        ignore_not_found(client.delete_port, port['id'])
    if vip.octavia_owned:
        ignore_not_found(client.delete_port, vip.port_id)
    else:
        ignore_not_found(client.update_port, vip.port_id, {'port': {
            'device_id': '', 'device_owner': '', 'binding:host_id': '',
            'port_security_enabled': True}})


def ignore_not_found(call, *arguments):
    """Call a method of the Neutron client. Ignore the error that the port does not exist (404)."""
    try:
        call(*arguments)
    except Exception as error:
        if getattr(error, 'status_code', None) != 404:
            raise


def main(exit_event):
    """Run the agent until the process octavia-driver-agent stops it.

    After an exception, octavia-driver-agent restarts the agent.
    """
    agent = Agent(driver_lib.DriverLibrary())
    while not exit_event.wait(INTERVAL):
        agent.look()
