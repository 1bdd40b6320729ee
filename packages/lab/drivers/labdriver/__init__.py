"""Drivers that the OpenStack services of the lab load.

compute            Nova's driver and the program nova-compute
containers         servers as system containers started by runc
virtual_machines   servers as virtual machines of qemu
images             images of servers, unpacked once
block_storage      Cinder's driver: volumes are sparse files
load_balancers     Octavia's driver and agent: haproxy in a network namespace

Only compute/nova*.py, block_storage/cinder.py, load_balancers/octavia*.py and
load_balancers/certificates.py import OpenStack. All other modules can be tested without
OpenStack. The services import this package from PYTHONPATH. The entry points are in
labdriver-0.1.dist-info.
"""
