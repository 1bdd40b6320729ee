"""Add images of virtual machines to Glance. Runs inside the cloud, as its administrator.

Reads a JSON list of {name, key, version, commandLine, folder} from the environment (IMAGES).
    missing: prints the names of the images that Glance does not have
    offer: creates these images; the disk image comes after its kernel and initrd
"""
import json
import os
import sys

import openstack

KEY = 'lab_key'


def upload_image(cloud, name, path, disk_format, **properties):
    """Create a public image from a file. Return its ID."""
    return cloud.create_image(name, filename=path, disk_format=disk_format, container_format='bare',
                              visibility='public', allow_duplicates=True, wait=True,
                              **properties).id


def is_missing(cloud, image):
    """Return whether Glance lacks exactly this image under its name."""
    present = [one for one in cloud.image.images() if one.name == image['name']]
    return [(one.status, one.properties.get(KEY)) for one in present] != [('active', image['key'])]


def replace_image(cloud, image):
    """Create the image, and delete the existing images with its name."""
    parts = {part: f"{image['name']}-{part}" for part in ('kernel', 'initrd')}
    for one in list(cloud.image.images()):
        if one.name in (image['name'], *parts.values()):
            cloud.image.delete_image(one.id)
    files = {'kernel': 'vmlinuz', 'initrd': 'initrd.img'}
    ids = {part: upload_image(cloud, parts[part], os.path.join(image['folder'], file), 'raw')
           for part, file in files.items()}
    upload_image(cloud, image['name'], os.path.join(image['folder'], 'disk.qcow2'), 'qcow2',
                 kernel_id=ids['kernel'], ramdisk_id=ids['initrd'],
                 os_command_line=image['commandLine'], os_distro='debian',
                 os_version=image['version'], os_admin_user='debian',
                 # Services of a cluster stop slowly on emulated processors.
                 os_shutdown_timeout='180', **{KEY: image['key']})


def main():
    cloud = openstack.connect()
    for image in json.loads(os.environ['IMAGES']):
        if sys.argv[1] == 'offer':
            replace_image(cloud, image)
        elif is_missing(cloud, image):
            print(image['name'])


main()
