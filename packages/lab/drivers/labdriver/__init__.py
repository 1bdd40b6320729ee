"""Drivers of the lab's cloud, which OpenStack's own services load.

compute            Nova's driver and the program nova-compute
containers         servers as system containers started by runc
virtual_machines   servers as virtual machines of qemu
images             images of servers, unpacked once
block_storage      Cinder's driver: volumes are sparse files
load_balancers     Octavia's driver and agent: haproxy in a network namespace

Only compute/nova*.py, block_storage/cinder.py, load_balancers/octavia*.py and
load_balancers/certificates.py import OpenStack, so that everything else can be tested anywhere.
The services import this package from PYTHONPATH; labdriver-0.1.dist-info names the entry points.
"""
