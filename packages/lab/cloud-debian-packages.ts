/** Debian release of the cloud and of the server image. This release contains OpenStack Zed. */
export const debianSuite = "bookworm";

/**
 * Source packages that the cloud takes from backports. With this qemu, processes start and switch
 * three times as fast.
 */
export const debianBackportSources: readonly string[] = ["qemu", "seabios"];

/**
 * Debian packages of the cloud. The packages nova-compute, cinder-api, cinder-volume and
 * octavia-api are left out, because they install libvirt, lvm2 and tgt. Their code is in the
 * python3-* packages.
 */
export const cloudPackages: readonly string[] = [
  // system
  ..."systemd systemd-sysv dbus sudo procps kmod iproute2 iputils-ping iputils-arping iptables".split(
    " ",
  ),
  ..."ebtables bridge-utils ipset conntrack curl ca-certificates btrfs-progs e2fsprogs xfsprogs".split(
    " ",
  ),
  ..."nftables zstd runc haproxy qemu-utils genisoimage openssh-client".split(" "),
  // emulated machines
  "qemu-system-x86",
  // dependencies of the services, and servers for the apt and image repositories
  ..."mariadb-server rabbitmq-server memcached python3-memcache python3-pymysql".split(" "),
  ..."uwsgi-plugin-python3 nginx-light docker-registry".split(" "),
  // OpenStack
  ..."keystone glance-api placement-api nova-api nova-conductor nova-scheduler python3-nova".split(
    " ",
  ),
  ..."neutron-common neutron-linuxbridge-agent neutron-l3-agent neutron-dhcp-agent".split(" "),
  ..."neutron-metadata-agent cinder-common python3-cinder octavia-common python3-octavia".split(
    " ",
  ),
  ..."barbican-api python3-openstackclient python3-octaviaclient".split(" "),
];
