#!/usr/bin/python3 -IS
"""Health check of one UDP member. haproxy runs it as: udp_connect.py - - ADDRESS PORT.

UDP has no handshake. As in Octavia's UDP-CONNECT check, a member is healthy unless it rejects an
empty datagram. If no process listens on the port, the member's kernel rejects the datagram with
an ICMP message.
"""
import socket
import sys

PATIENCE = 0.5      # seconds; less than 1 s, the minimum timeout of a health monitor


def is_healthy(address, port):
    """Send an empty datagram. Return False if the member rejects the datagram."""
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
