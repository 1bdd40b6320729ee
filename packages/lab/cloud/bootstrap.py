"""Create the users and resources of an empty cloud. Runs once, inside the cloud.

bootstrap.py identities: service user, roles, catalog, the tenant's project and user.
bootstrap.py offering:   image, flavors, zones, volume types, external networks, quotas.

Names and numbers come from /etc/lab/offering.json, passwords from the environment.
"""
import json
import os
import subprocess
import sys
import time

import openstack

# Time limit in seconds for each wait. A cold start on two busy cores takes 60 s.
PATIENCE = 180


def wait_until(what, check):
    """Call check() every half second until it returns a true value. Return this value."""
    deadline = time.monotonic() + PATIENCE
    problem = None
    while time.monotonic() < deadline:
        try:
            result = check()
            if result:
                return result
        except Exception as error:      # starting services raise many kinds of errors
            problem = error
        time.sleep(0.5)
    sys.exit(f'{what} did not appear within {PATIENCE} s (last error: {problem})')


def connect():
    cloud = openstack.connect(
        auth_url=os.environ['AUTH_URL'], region_name=os.environ['REGION'],
        username='admin', password=os.environ['ADMIN_PASSWORD'], project_name='admin',
        user_domain_name='Default', project_domain_name='Default')
    wait_until('the identity service', lambda: cloud.authorize())
    return cloud


def create_identities(cloud, offering):
    identity = cloud.identity
    domain = identity.find_domain('default')
    roles = {role.name: role for role in identity.roles()}
    for name in ('service', 'load-balancer_member', *offering['roles']):
        if name not in roles:
            roles[name] = identity.create_role(name=name)
    # Octavia's default policy requires the role load-balancer_member. Each user with the role
    # member also gets this role.
    implied = f"/roles/{roles['member'].id}/implies/{roles['load-balancer_member'].id}"
    identity.put(implied)

    def user(name, password, project, role_names):
        made = identity.create_user(name=name, password=password, domain_id=domain.id,
                                    default_project_id=project.id)
        for role in role_names:
            identity.assign_project_role_to_user(project, made, roles[role])

    service = identity.create_project(name='service', domain_id=domain.id)
    user('svc', os.environ['SERVICE_PASSWORD'], service, ('admin', 'service'))
    tenant = identity.create_project(name=offering['tenant'], domain_id=domain.id)
    user(offering['tenant'], os.environ['DEMO_PASSWORD'], tenant, offering['roles'])
    for region in offering['regions']:
        response = identity.post('/regions', json={'region': {'id': region}})
        openstack.exceptions.raise_from_response(response)
    services = {one.type: one for one in identity.services()}
    for entry in offering['catalog']:
        made = services.get(entry['type']) or identity.create_service(name=entry['name'],
                                                                      type=entry['type'])
        for region, url in entry['urls'].items():
            for interface in ('public', 'internal', 'admin'):
                identity.create_endpoint(service_id=made.id, interface=interface, url=url,
                                         region_id=region)
    print('identities and catalog are made', flush=True)


def upload_image(cloud, wanted):
    wait_until('the image service', lambda: list(cloud.image.images()) is not None)
    cloud.create_image(
        wanted['name'], filename=wanted['file'], id=wanted['id'], disk_format='raw',
        container_format='bare', visibility='public', allow_duplicates=True, wait=True,
        **wanted['properties'])
    print(f"image {wanted['name']} is there", flush=True)


def create_flavors(cloud, wanted):
    wait_until('the compute service', lambda: list(cloud.compute.flavors()) is not None)
    for flavor in wanted:
        cloud.compute.create_flavor(**flavor)
    print(f'{len(wanted)} flavors are there', flush=True)


def create_external_network(cloud, wanted):
    wait_until('the network service', lambda: list(cloud.network.networks()) is not None)
    network = cloud.network.create_network(
        name=wanted['name'], is_router_external=True, provider_network_type='flat',
        provider_physical_network=wanted['physicalNetwork'])
    cloud.network.create_subnet(
        name=wanted['name'], network_id=network.id, ip_version=4, cidr=wanted['cidr'],
        gateway_ip=wanted['gateway'], enable_dhcp=False,
        allocation_pools=[{'start': wanted['first'], 'end': wanted['last']}])
    print(f"external network {wanted['name']} is there", flush=True)


def create_volume_types(cloud, wanted):
    wait_until('the volume service', lambda: list(cloud.block_storage.types()) is not None)
    for volume_type in wanted:
        cloud.block_storage.create_type(
            name=volume_type['name'], description=volume_type['description'],
            extra_specs=volume_type['extraSpecs'])
    print(f'{len(wanted)} volume types are there', flush=True)


def create_availability_zones(cloud, wanted):
    """Create one host aggregate per zone. First wait until all compute hosts are mapped to the
    cell."""
    hosts = {zone['host'] for zone in wanted}

    def mapped():
        subprocess.run(['nova-manage', 'cell_v2', 'discover_hosts'], check=True,
                       capture_output=True)
        up = {s.host for s in cloud.compute.services() if s.binary == 'nova-compute'}
        known = {h.hypervisor_hostname if hasattr(h, 'hypervisor_hostname') else h.name
                 for h in cloud.compute.hypervisors(details=True)}
        return hosts <= up and hosts <= known

    wait_until(f"the compute hosts {', '.join(sorted(hosts))}", mapped)
    for zone in wanted:
        aggregate = cloud.compute.create_aggregate(name=zone['name'],
                                                   availability_zone=zone['name'])
        cloud.compute.add_host_to_aggregate(aggregate, zone['host'])
    print(f'{len(wanted)} availability zones are there', flush=True)


def set_quotas(cloud, tenant, wanted):
    project = cloud.identity.find_project(tenant)
    cloud.set_compute_quotas(project.id, **wanted['compute'])
    cloud.set_network_quotas(project.id, **wanted['network'])
    cloud.set_volume_quotas(project.id, **wanted['volume'])
    wait_until('the load balancer service', lambda: list(cloud.load_balancer.providers()))
    response = cloud.load_balancer.put(f'/lbaas/quotas/{project.id}',
                                       json={'quota': wanted['loadBalancer']})
    openstack.exceptions.raise_from_response(response)
    print('quotas are set', flush=True)


def create_offering(cloud, offering):
    for network in offering['externalNetworks']:
        create_external_network(cloud, network)
    create_flavors(cloud, offering['flavors'])
    upload_image(cloud, offering['image'])
    create_volume_types(cloud, offering['volumeTypes'])
    set_quotas(cloud, offering['tenant'], offering['quotas'])
    create_availability_zones(cloud, offering['zones'])


def main():
    with open('/etc/lab/offering.json', encoding='utf-8') as file:
        offering = json.load(file)
    {'identities': create_identities, 'offering': create_offering}[sys.argv[1]](connect(), offering)


if __name__ == '__main__':
    main()
