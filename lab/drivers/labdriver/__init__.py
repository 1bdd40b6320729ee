"""Drivers of the laboratory cloud: what OpenStack's own services call to make machines real.

nova_compute, nova    servers: system containers started by runc
cinder                volumes: sparse files
octavia, octavia_agent  load balancers: haproxy in a network namespace

Everything else in this package is free of OpenStack imports, so that it can be tested anywhere.
The services import this package from PYTHONPATH; labdriver-0.1.dist-info names the entry points.
"""
