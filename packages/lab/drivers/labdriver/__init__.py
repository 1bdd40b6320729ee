"""Drivers of the lab's cloud, which OpenStack's own services load.

nova_compute, nova        servers: system containers started by runc, or virtual machines
cinder                    volumes: sparse files
octavia, octavia_agent    load balancers: haproxy in a network namespace

Everything else in this package has no OpenStack imports, so that it can be tested anywhere. The
services import this package from PYTHONPATH; labdriver-0.1.dist-info names the entry points.
"""
