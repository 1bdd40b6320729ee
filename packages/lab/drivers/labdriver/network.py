"""Network namespaces and the veth pairs that connect them to Neutron's bridges.

Every function is idempotent: it reaches a state, and a second call changes nothing.
"""
import os

from labdriver.shell import ANY_STATUS, run, succeeds

LINKS = '/sys/class/net/'
NAMESPACES = '/run/netns/'
SETTINGS = '/proc/sys/net/ipv6/conf/'


def get_tap_name(port_id):
    """Return the name of a port's host device. The linuxbridge agent searches for this name."""
    return 'tap' + port_id[:11]


def ensure_namespace(name):
    """Create the network namespace and set its loopback up."""
    if not os.path.exists(NAMESPACES + name):
        run('ip', 'netns', 'add', name)
    run('ip', '-n', name, 'link', 'set', 'lo', 'up')


def remove_namespace(name):
    """Remove the network namespace and all devices in it."""
    if os.path.exists(NAMESPACES + name):
        run('ip', 'netns', 'del', name, ok=ANY_STATUS)


def apply_forwarding_rules(name, rules, gone):
    """Load nftables rules for forwarding. Delete the flows of the (port, address) pairs in gone.

    Otherwise the kernel would send packets of existing flows to their old members.
    """
    run('ip', 'netns', 'exec', name, 'sysctl', '-q', '-w', 'net.ipv4.ip_forward=1')
    run('ip', 'netns', 'exec', name, 'nft', '-f', rules)
    for port, address in sorted(gone):
        run('ip', 'netns', 'exec', name, 'conntrack', '-D', '-p', 'udp', '--orig-port-dst', port,
            '--reply-src', address, ok=(0, 1))


def ensure_bridge(name):
    """Create a bridge with the same settings as the linuxbridge agent.

    The agent may create the bridge at the same time.
    """
    if not os.path.exists(LINKS + name):
        if not succeeds('ip', 'link', 'add', name, 'type', 'bridge', 'forward_delay', 0):
            if not os.path.exists(LINKS + name):
                raise RuntimeError('bridge %s cannot be made' % name)
    disable_link_ipv6(name)
    run('ip', 'link', 'set', name, 'up')


def disable_link_ipv6(device):
    """Disable IPv6 on the cloud's own device in a tenant network.

    Otherwise the cloud's kernel would accept router advertisements from the tenant network.
    """
    setting = os.path.join(SETTINGS, device, 'disable_ipv6')
    if os.path.exists(setting):
        with open(setting, 'w', encoding='ascii') as file:
            file.write('1')


def get_port_address(port, subnet_id=None):
    """Return a port's fixed IP in a subnet, or the port's first fixed IP."""
    addresses = port['fixed_ips']
    return next((one for one in addresses if one['subnet_id'] == subnet_id), addresses[0])


def plug(port, namespace, device, bridge=None):
    """Connect a namespace to a port by a veth pair: a tap on the host, `device` in the namespace.

    port: {'id', 'mac', 'mtu'}. bridge: only for the ports of servers. The linuxbridge agent adds
    all other taps to its bridges itself.
    """
    tap = get_tap_name(port['id'])
    if os.path.exists(LINKS + tap) and not has_device(namespace, device):
        unplug(port['id'])
    if not os.path.exists(LINKS + tap):
        run('ip', 'link', 'add', tap, 'mtu', port['mtu'], 'type', 'veth', 'peer', 'name', device,
            'address', port['mac'], 'mtu', port['mtu'], 'netns', namespace)
    disable_link_ipv6(tap)
    run('ip', '-n', namespace, 'link', 'set', device, 'up')
    if bridge:
        ensure_bridge(bridge)
        run('ip', 'link', 'set', tap, 'master', bridge)
    run('ip', 'link', 'set', tap, 'up')


def plug_tap(port, bridge):
    """Connect a virtual machine to a port. Create the tap for qemu and add it to the bridge."""
    tap = get_tap_name(port['id'])
    if not os.path.exists(LINKS + tap):
        run('ip', 'tuntap', 'add', 'dev', tap, 'mode', 'tap')
    disable_link_ipv6(tap)
    run('ip', 'link', 'set', tap, 'mtu', port['mtu'])
    ensure_bridge(bridge)
    run('ip', 'link', 'set', tap, 'master', bridge)
    run('ip', 'link', 'set', tap, 'up')


def has_device(namespace, device):
    return succeeds('ip', '-n', namespace, 'link', 'show', 'dev', device)


def unplug(port_id):
    """Remove the device of a port on the host, and with it the other end of a veth pair."""
    if os.path.exists(LINKS + get_tap_name(port_id)):
        run('ip', 'link', 'del', get_tap_name(port_id), ok=ANY_STATUS)


def list_device_names(namespace):
    lines = run('ip', '-n', namespace, '-o', 'link').splitlines()
    return {line.split(':')[1].strip().split('@')[0] for line in lines}


def find_free_device_name(names):
    """Return the first of eth0, eth1, ... that is not among the names."""
    return next('eth%d' % i for i in range(len(names) + 1) if 'eth%d' % i not in names)
