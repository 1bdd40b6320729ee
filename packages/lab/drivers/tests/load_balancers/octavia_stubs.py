"""Stubs of Octavia, and a base class for tests of the agent with these stubs."""
import contextlib
import importlib
import unittest
from types import SimpleNamespace
from unittest import mock

from tests.load_balancers import objects
from tests.support import stub_modules


class Refused(Exception):
    """Replacement for octavia_lib's UnsupportedOptionError."""

    def __init__(self, user_fault_string=None, operator_fault_string=None):
        super().__init__(user_fault_string)


def octavia_stubs():
    """Return stubs of the modules of Octavia, octavia-lib and oslo that the lab's drivers
    import."""
    configuration = SimpleNamespace(register_opts=mock.Mock(),
                                    lab=SimpleNamespace(network_host='labcloud'),
                                    neutron=SimpleNamespace(region_name='lab'),
                                    certificates=SimpleNamespace(
                                        cert_manager='barbican_cert_manager',
                                        region_name='lab', endpoint_type='publicURL'))
    return {
        'barbicanclient': {'client': mock.Mock()},
        'keystoneauth1': {'session': mock.Mock(), 'token_endpoint': mock.Mock()},
        'stevedore': {'driver': mock.Mock()},
        'octavia.certificates.common.auth': {
            'barbican_acl': SimpleNamespace(BarbicanACLAuth=object)},
        'octavia.common': {'clients': mock.Mock(), 'keystone': mock.Mock()},
        'octavia.common.tls_utils': {'cert_parser': mock.Mock()},
        'octavia.db': {'api': mock.Mock(), 'models': mock.Mock()},
        'octavia_lib.api.drivers': {
            'exceptions': SimpleNamespace(UnsupportedOptionError=Refused),
            'provider_base': SimpleNamespace(ProviderDriver=object),
            'driver_lib': mock.Mock()},
        'oslo_config': {'cfg': SimpleNamespace(CONF=configuration, StrOpt=mock.Mock())},
        'oslo_log': {'log': mock.Mock()},
    }


class Session:
    """Replacement for a database session that has one load balancer."""

    def __init__(self, balancer):
        self.balancer = balancer

    def begin(self):
        return contextlib.nullcontext()

    def query(self, *_what):
        return self

    def filter(self, *_conditions):
        return self

    def all(self):
        return [(self.balancer.id, self.balancer.provisioning_status)]

    def get(self, _id):
        return self.balancer

    def expire_all(self):
        pass

    close = expire_all


class AgentCase(unittest.TestCase):
    """An agent whose database has one load balancer."""

    def setUp(self):
        stubs = octavia_stubs()
        stub_modules(self, stubs)
        self.module = importlib.import_module('labdriver.load_balancers.octavia_agent')
        self.module.create_neutron_client = mock.Mock()
        self.client = self.module.create_neutron_client.return_value
        self.client.list_ports.return_value = {'ports': []}
        self.balancer = objects.simple(provisioning_status='PENDING_CREATE')
        stubs['octavia.db']['api'].get_session.return_value = Session(self.balancer)
        self.instance = mock.Mock()
        self.instance.balancer = self.balancer
        self.instance.has_network.return_value = True
        self.instance.is_listening.return_value = False
        self.module.HaproxyInstance = mock.Mock(return_value=self.instance)
        self.library = mock.Mock()
        self.now = 100
        self.agent = self.module.Agent(self.library, lambda: self.now)

    def reported(self):
        """Return the load balancer's provisioning status in the last report, if there was one."""
        calls = self.library.update_loadbalancer_status.call_args_list
        return calls and calls[-1].args[0]['loadbalancers'][0]['provisioning_status']
