#!/usr/bin/python3 -IS
"""Health of one UDP member, for haproxy. The fourth argument is the address, the fifth the port.

UDP has no handshake. As with Octavia's UDP-CONNECT, a member is healthy unless it rejects an
empty datagram. If no service listens on the port, a running host rejects the datagram by ICMP.
"""
import socket
import sys

PATIENCE = 0.5      # seconds; shorter than one second, the shortest timeout of a monitor


def is_healthy(address, port):
    """Return whether the member does not reject a datagram."""
    family = socket.AF_INET6 if ':' in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        probe.settimeout(PATIENCE)
        try:
            probe.connect((address, port))
            probe.send(b'')
            probe.recv(1)
        except TimeoutError:
            return True
        except OSError:
            return False
    return True


if __name__ == '__main__':
    sys.exit(not is_healthy(sys.argv[3], int(sys.argv[4])))
