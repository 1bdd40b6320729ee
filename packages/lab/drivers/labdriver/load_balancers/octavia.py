"""Octavia provider driver inside octavia-api: creates VIP ports, refuses what the lab cannot do.

The driver accepts all other requests and does nothing. Octavia calls the driver before it commits
the request to the database. A status report during this call would conflict with the commit. So
the agent (octavia_agent.py) reads the committed requests from the database and executes them.
"""
from octavia.common import clients
from octavia_lib.api.drivers import exceptions
from octavia_lib.api.drivers import provider_base
from oslo_config import cfg

from labdriver.network import get_port_address

LISTENER_PROTOCOLS = ('HTTP', 'TCP', 'HTTPS', 'UDP', 'TERMINATED_HTTPS')
POOL_PROTOCOLS = ('HTTP', 'TCP', 'HTTPS', 'PROXY', 'PROXYV2', 'UDP')
MONITORS = ('HTTP', 'HTTPS', 'TCP', 'TLS-HELLO', 'UDP-CONNECT')
OWNER = 'Octavia'
OPTIONS = [cfg.StrOpt('network_host', default='labcloud', help='Host of the Neutron agent.')]
cfg.CONF.register_opts(OPTIONS, group='lab')


def create_neutron_client():
    """Return a Neutron client with the service's credentials."""
    return clients.NeutronAuth.get_neutron_client(region=cfg.CONF.neutron.region_name)


def get_port_fields(loadbalancer_id):
    """Return the Neutron fields of all ports of a load balancer.

    Port security is off, so Neutron does not filter the traffic. haproxy and the UDP rules apply
    the allowed CIDRs.
    """
    return {'device_id': get_device_id(loadbalancer_id), 'device_owner': OWNER,
            'binding:host_id': cfg.CONF.lab.network_host, 'admin_state_up': True,
            'security_groups': [], 'port_security_enabled': False}


def get_device_id(loadbalancer_id):
    """Return the device ID of a load balancer's ports."""
    return 'lb-' + loadbalancer_id


def require_supported(value, allowed, what):
    """Refuse a value that is not allowed. Accept unset values, which updates contain."""
    if isinstance(value, str) and value not in allowed:
        text = '%s %s is not supported; this cloud has %s' % (what, value, ', '.join(allowed))
        raise exceptions.UnsupportedOptionError(user_fault_string=text, operator_fault_string=text)


def get_items(things):
    """Return the items of a list in the provider data model. The list may be unset."""
    return things if isinstance(things, list) else []


class LabProviderDriver(provider_base.ProviderDriver):
    """Provider driver without support for L7 policies and failover."""

    # -- addresses

    def create_vip_port(self, loadbalancer_id, project_id, vip_dictionary, additional_vip_dicts):
        if additional_vip_dicts:
            require_supported('additional VIPs', ('one VIP',), 'load balancer with')
        fields = get_port_fields(loadbalancer_id)
        wanted = vip_dictionary.get('vip_port_id')
        if wanted:
            port = create_neutron_client().update_port(wanted, {'port': fields})['port']
        else:
            fields.update(self._new_port(loadbalancer_id, project_id, vip_dictionary))
            port = create_neutron_client().create_port({'port': fields})['port']
        address = get_port_address(port, vip_dictionary.get('vip_subnet_id'))
        return {'vip_port_id': port['id'], 'vip_network_id': port['network_id'],
                'vip_address': address['ip_address'], 'vip_subnet_id': address['subnet_id'],
                'octavia_owned': not wanted}, []

    @staticmethod
    def _new_port(loadbalancer_id, project_id, vip):
        address = {'subnet_id': vip.get('vip_subnet_id'), 'ip_address': vip.get('vip_address')}
        address = {name: value for name, value in address.items() if value}
        port = {'name': 'octavia-lb-' + loadbalancer_id, 'project_id': project_id,
                'network_id': vip['vip_network_id']}
        return dict(port, fixed_ips=[address]) if address else port

    # -- refused requests

    def loadbalancer_create(self, loadbalancer):
        for listener in get_items(loadbalancer.listeners):
            self.listener_create(listener)
        for pool in get_items(loadbalancer.pools):
            self.pool_create(pool)

    def listener_create(self, listener):
        require_supported(listener.protocol, LISTENER_PROTOCOLS, 'listener protocol')
        require_supported(listener.client_authentication, ('NONE',), 'client authentication')

    def pool_create(self, pool):
        require_supported(pool.protocol, POOL_PROTOCOLS, 'pool protocol')
        monitor = pool.healthmonitor
        if hasattr(monitor, 'type'):
            self.health_monitor_create(monitor)

    def health_monitor_create(self, healthmonitor):
        require_supported(healthmonitor.type, MONITORS, 'health monitor')

    # -- accepted requests

    def loadbalancer_delete(self, loadbalancer, cascade=False):
        pass

    def loadbalancer_update(self, old_loadbalancer, new_loadbalancer):
        pass

    def listener_delete(self, listener):
        pass

    def listener_update(self, old_listener, new_listener):
        self.listener_create(new_listener)

    def pool_delete(self, pool):
        pass

    def pool_update(self, old_pool, new_pool):
        pass

    def member_create(self, member):
        pass

    def member_delete(self, member):
        pass

    def member_update(self, old_member, new_member):
        pass

    def member_batch_update(self, pool_id, members):
        pass

    def health_monitor_delete(self, healthmonitor):
        pass

    def health_monitor_update(self, old_healthmonitor, new_healthmonitor):
        pass

    # -- flavors and availability zones: they have no options

    def get_supported_flavor_metadata(self):
        return {}

    def validate_flavor(self, flavor_metadata):
        require_supported(next(iter(flavor_metadata), None), ('no capabilities',),
                          'flavor capability')

    def get_supported_availability_zone_metadata(self):
        return {}

    def validate_availability_zone(self, availability_zone_metadata):
        require_supported(next(iter(availability_zone_metadata), None), ('no capabilities',),
                          'availability zone capability')
