"""Load balancers that terminate TLS."""
import importlib
import os
import stat
import unittest
from types import SimpleNamespace
from unittest import mock

from labdriver.load_balancers import haproxy, haproxy_instance
from tests.load_balancers import objects
from tests.load_balancers.octavia_stubs import AgentCase, octavia_stubs
from tests.support import DirectoryTest, stub_modules


def ending(**fields):
    """Return a load balancer whose only listener terminates TLS."""
    one = objects.pool(members=[objects.member('m1')])
    return objects.balancer([objects.listener(default_pool=one, protocol='TERMINATED_HTTPS',
                                              protocol_port=443, **fields)], [one])


class RenderTest(unittest.TestCase):
    def lines(self, **fields):
        text = haproxy.render(ending(**fields), 's', {'listener': ['/a.pem', '/b.pem']})
        return [line.strip() for line in text.splitlines()]

    def test_certificates_are_in_their_order(self):
        found = self.lines()
        self.assertIn('bind 10.0.0.10:443 ssl crt /a.pem crt /b.pem', found)
        self.assertEqual(found.count('mode http'), 2)

    def test_versions_ciphers_and_protocols_within(self):
        self.assertIn('bind 10.0.0.10:443 ssl crt /a.pem crt /b.pem no-sslv3 no-tlsv10 no-tlsv11'
                      ' ciphers A:B alpn h2,http/1.1',
                      self.lines(tls_versions=['TLSv1.2', 'TLSv1.3'], tls_ciphers='A:B',
                                 alpn_protocols=['h2', 'http/1.1']))

    def test_members_are_told_that_it_was_https(self):
        self.assertIn('http-request set-header X-Forwarded-Proto https',
                      self.lines(insert_headers={'X-Forwarded-Proto': 'true'}))

    def test_others_have_none_of_it(self):
        self.assertNotIn('ssl', haproxy.render(objects.simple(), 's'))

    def test_a_proxy_pool_reads_what_its_listener_reads(self):
        balancer = ending()
        balancer.pools[0].protocol = 'PROXY'
        self.assertNotIn('mode tcp', haproxy.render(balancer, 's', {'listener': ['/a']}))


class FilesTest(DirectoryTest):
    def setUp(self):
        super().setUp()
        self.instance = haproxy_instance.HaproxyInstance(self.directory, ending())
        for name, result in (('run', None), ('succeeds', False)):
            patch = mock.patch('labdriver.load_balancers.haproxy_instance.' + name,
                               return_value=result)
            patch.start()
            self.addCleanup(patch.stop)
        patch = mock.patch('labdriver.load_balancers.haproxy_instance.HaproxyInstance.known',
                           return_value={'listener', 'm1'})
        patch.start()
        self.addCleanup(patch.stop)

    def files(self):
        return [os.path.join(self.instance.certificates, name)
                for name in os.listdir(self.instance.certificates)]

    def apply(self, *pems):
        self.instance.apply({'listener': pems})

    def test_only_root_reads_them(self):
        self.apply(b'a', b'b')
        self.assertEqual(len(self.files()), 2)
        for path in [*self.files(), self.instance.certificates]:
            self.assertEqual(stat.S_IMODE(os.stat(path).st_mode) & 0o077, 0)
            self.assertTrue(path == self.instance.certificates
                            or path in haproxy_instance.read_if_exists(self.instance.configuration))

    def test_another_certificate_is_another_configuration_and_the_former_is_gone(self):
        self.apply(b'a')
        before, former = haproxy_instance.read_if_exists(self.instance.configuration), self.files()
        self.apply(b'b')
        self.assertNotEqual(haproxy_instance.read_if_exists(self.instance.configuration), before)
        self.assertEqual(len(self.files()), 1)
        self.assertNotEqual(self.files(), former)

    def test_they_go_with_the_listener(self):
        self.apply(b'a')
        self.instance.balancer.listeners.clear()
        self.instance.apply({})
        self.assertEqual(self.files(), [])


class FetchTest(unittest.TestCase):
    def setUp(self):
        self.stubs = octavia_stubs()
        stub_modules(self, self.stubs)
        self.module = importlib.import_module('labdriver.load_balancers.certificates')
        self.parser = self.stubs['octavia.common.tls_utils']['cert_parser']
        self.parser.build_pem.side_effect = lambda one: one

    def test_the_default_one_comes_first_the_others_in_a_fixed_order(self):
        self.parser.load_certificates_data.return_value = {
            'tls_cert': b'z', 'sni_certs': [b'b', b'a']}
        self.assertEqual(self.module.fetch(ending()), {'listener': [b'z', b'a', b'b']})
        self.parser.load_certificates_data.return_value['tls_cert'] = None
        self.assertEqual(self.module.fetch(ending()), {'listener': [b'a', b'b']})

    def test_barbican_is_asked_for_nothing_else(self):
        balancer = ending()
        balancer.listeners.append(objects.listener('plain'))
        self.parser.load_certificates_data.return_value = {'tls_cert': b'z', 'sni_certs': []}
        self.assertEqual(list(self.module.fetch(balancer)), ['listener'])
        self.assertEqual(self.module.fetch(objects.simple()), {})
        self.parser.load_certificates_data.assert_called_once()

    def test_a_clients_token_is_shown_as_it_is(self):
        session = self.stubs['octavia.common']['keystone'].KeystoneSession().get_session()
        session.get_endpoint.return_value = 'http://barbican'
        self.module.BarbicanAuth.get_barbican_client_user_auth(SimpleNamespace(auth_token='t'))
        token = self.stubs['keystoneauth1']['token_endpoint'].Token
        token.assert_called_once_with('http://barbican', 't')
        self.assertEqual(session.get_endpoint.call_args.kwargs, {
            'service_type': 'key-manager', 'region_name': 'lab', 'interface': 'publicURL'})


class AgentTest(AgentCase):
    def setUp(self):
        super().setUp()
        patch = mock.patch.object(self.module.certificates, 'fetch')
        self.fetch = patch.start()
        self.addCleanup(patch.stop)

    def test_certificates_are_there_before_haproxy_reads_them(self):
        self.agent.look()
        self.instance.apply.assert_called_once_with(self.fetch.return_value)

    def test_a_secret_that_cannot_be_read_is_an_error_after_a_minute(self):
        self.fetch.side_effect = RuntimeError('Forbidden')
        self.agent.look()
        self.assertFalse(self.reported())
        self.now += 61
        self.agent.look()
        self.assertEqual(self.reported(), 'ERROR')
        self.instance.apply.assert_not_called()

    def test_deleting_needs_no_secret(self):
        self.fetch.side_effect = RuntimeError('gone')
        self.balancer.provisioning_status = 'PENDING_DELETE'
        self.agent.look()
        self.assertEqual(self.reported(), 'DELETED')
