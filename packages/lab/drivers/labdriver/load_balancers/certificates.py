"""Certificates of TLS listeners, read from Barbican."""
from barbicanclient import client as barbican
from keystoneauth1 import session, token_endpoint
from octavia.certificates.common.auth import barbican_acl
from octavia.common import keystone
from octavia.common.tls_utils import cert_parser
from oslo_config import cfg
from stevedore import driver as stevedore

from labdriver.load_balancers import haproxy


class BarbicanAuth(barbican_acl.BarbicanACLAuth):
    """Octavia's access to Barbican with the user's own token.

    With this token, Octavia allows its service user to read the secret. Octavia 11.0.0 would first
    exchange the token for a new token, which Keystone refuses for application credentials. Later
    releases use the user's own token, like this class.
    """

    @classmethod
    def get_barbican_client_user_auth(cls, context):
        settings = cfg.CONF.certificates
        endpoint = keystone.KeystoneSession().get_session().get_endpoint(
            service_type='key-manager', region_name=settings.region_name,
            interface=settings.endpoint_type)
        auth = token_endpoint.Token(endpoint, context.auth_token)
        return barbican.Client(session=session.Session(auth=auth), endpoint=endpoint)


def fetch(balancer):
    """Return {listener's id: its certificates} of all listeners that terminate TLS.

    Read the certificates with the service's permissions. Each certificate is a PEM text with its
    key and intermediate certificates. The default certificate comes first.
    """
    ending = [one for one in haproxy.list_active_listeners(balancer) if haproxy.terminates_tls(one)]
    if not ending:
        return {}
    manager = stevedore.DriverManager(
        namespace='octavia.cert_manager', name=cfg.CONF.certificates.cert_manager,
        invoke_on_load=True).driver
    return {listener.id: build_pem_certificates(
        cert_parser.load_certificates_data(manager, listener)) for listener in ending}


def build_pem_certificates(found):
    """Return the certificates that Octavia read for a listener, as PEM."""
    default = [found['tls_cert']] if found['tls_cert'] else []
    return [cert_parser.build_pem(one) for one in default] + sorted(
        cert_parser.build_pem(one) for one in found['sni_certs'])
