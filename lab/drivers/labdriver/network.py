"""Network namespaces and the veth pairs that join them to Neutron's bridges.

Every function reaches a state rather than takes a step: calling it again changes nothing.
"""
import os

from labdriver.shell import ANY_STATUS, run, succeeds

LINKS = '/sys/class/net/'
NAMESPACES = '/run/netns/'
SETTINGS = '/proc/sys/net/ipv6/conf/'


def tap_name(port_id):
    """Host end of a port: the name by which the linuxbridge agent finds it."""
    return 'tap' + port_id[:11]


def ensure_namespace(name):
    """Make the network namespace, its loopback up."""
    if not os.path.exists(NAMESPACES + name):
        run('ip', 'netns', 'add', name)
    run('ip', '-n', name, 'link', 'set', 'lo', 'up')


def remove_namespace(name):
    """Remove the network namespace and with it every device that lives there only."""
    if os.path.exists(NAMESPACES + name):
        run('ip', 'netns', 'del', name, ok=ANY_STATUS)


def forward(name, rules, gone):
    """Let the namespace pass packets on by nftables rules, and end flows of (port, address) pairs
    that have no rule any more: the kernel keeps a flow where it was."""
    run('ip', 'netns', 'exec', name, 'sysctl', '-q', '-w', 'net.ipv4.ip_forward=1')
    run('ip', 'netns', 'exec', name, 'nft', '-f', rules)
    for port, address in sorted(gone):
        run('ip', 'netns', 'exec', name, 'conntrack', '-D', '-p', 'udp', '--orig-port-dst', port,
            '--reply-src', address, ok=(0, 1))


def ensure_bridge(name):
    """Make a bridge as the linuxbridge agent does; it may make the same one at the same time."""
    if not os.path.exists(LINKS + name):
        if not succeeds('ip', 'link', 'add', name, 'type', 'bridge', 'forward_delay', 0):
            if not os.path.exists(LINKS + name):
                raise RuntimeError('bridge %s cannot be made' % name)
    keep_out(name)
    run('ip', 'link', 'set', name, 'up')


def keep_out(device):
    """Keep the cloud itself out of a tenant's IPv6: it would take what a router offers."""
    setting = os.path.join(SETTINGS, device, 'disable_ipv6')
    if os.path.exists(setting):
        with open(setting, 'w', encoding='ascii') as file:
            file.write('1')


def address_in(port, subnet_id=None):
    """Address of a port in a subnet: one of IPv6 may give it another one, in whatever order."""
    addresses = port['fixed_ips']
    return next((one for one in addresses if one['subnet_id'] == subnet_id), addresses[0])


def plug(port, namespace, device, bridge=None):
    """Join a namespace to a port: tap here, `device` there.

    port: {'id', 'mac', 'mtu'}. The linuxbridge agent takes taps into its bridges, but not those of
    ports that belong to compute: for these the caller names the bridge.
    """
    tap = tap_name(port['id'])
    if os.path.exists(LINKS + tap) and not has_device(namespace, device):
        unplug(port['id'])
    if not os.path.exists(LINKS + tap):
        run('ip', 'link', 'add', tap, 'mtu', port['mtu'], 'type', 'veth', 'peer', 'name', device,
            'address', port['mac'], 'mtu', port['mtu'], 'netns', namespace)
    keep_out(tap)
    run('ip', '-n', namespace, 'link', 'set', device, 'up')
    if bridge:
        ensure_bridge(bridge)
        run('ip', 'link', 'set', tap, 'master', bridge)
    run('ip', 'link', 'set', tap, 'up')


def plug_tap(port, bridge):
    """Join a virtual machine to a port: make the device that qemu opens, in Neutron's bridge."""
    tap = tap_name(port['id'])
    if not os.path.exists(LINKS + tap):
        run('ip', 'tuntap', 'add', 'dev', tap, 'mode', 'tap')
    keep_out(tap)
    run('ip', 'link', 'set', tap, 'mtu', port['mtu'])
    ensure_bridge(bridge)
    run('ip', 'link', 'set', tap, 'master', bridge)
    run('ip', 'link', 'set', tap, 'up')


def has_device(namespace, device):
    """Tell whether the namespace has a device of this name."""
    return succeeds('ip', '-n', namespace, 'link', 'show', 'dev', device)


def unplug(port_id):
    """Remove both ends of a port."""
    if os.path.exists(LINKS + tap_name(port_id)):
        run('ip', 'link', 'del', tap_name(port_id), ok=ANY_STATUS)


def device_names(namespace):
    """Names of the namespace's devices."""
    lines = run('ip', '-n', namespace, '-o', 'link').splitlines()
    return {line.split(':')[1].strip().split('@')[0] for line in lines}


def free_device(names):
    """First of eth0, eth1, ... that is not in names."""
    return next('eth%d' % i for i in range(len(names) + 1) if 'eth%d' % i not in names)
