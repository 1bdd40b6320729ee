"""nova-compute with the lab's driver.

Nova loads drivers only from the package nova.virt, so this module registers the lab's driver
there. The setting is compute_driver = lab.LabDriver.

All compute hosts share this machine and its only Neutron agent. For a new server, Nova asks the
driver for the host of the agent (network_binding_host_id). After a resize or a retried build,
Nova binds the ports to the compute host, where no Neutron agent runs. bind_to_network_host
corrects this.
"""
import functools
import sys

import nova.cmd.compute
from nova.network import neutron
import nova.virt

from labdriver.compute import nova as lab


def bind_to_network_host(update):
    """Make Nova bind ports of servers to the host of the Neutron agent."""
    @functools.wraps(update)
    def wrapper(self, context, instance, _host, *args, **kwargs):
        return update(self, context, instance, lab.CONF.lab.network_host, *args, **kwargs)
    return wrapper


def main():
    sys.modules['nova.virt.lab'] = nova.virt.lab = lab
    neutron.API._update_port_binding_for_instance = bind_to_network_host(
        neutron.API._update_port_binding_for_instance)
    sys.exit(nova.cmd.compute.main())


if __name__ == '__main__':
    main()
