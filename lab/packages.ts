/** Debian release of the cloud and of the server image. OpenStack is the release it carries (Zed). */
export const suite = "bookworm";

/** Source packages that the cloud takes from backports: what starts processes or switches between them runs three times as fast with this qemu. */
export const cloudBackports: readonly string[] = ["qemu", "seabios"];

/**
 * The cloud. Not installed on purpose: nova-compute, cinder-api, cinder-volume, octavia-api; they bring libvirt,
 * lvm2 and tgt, while their code is in the python3-* packages.
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
  // the emulated machines
  "qemu-system-x86",
  // what the services stand on, and the two repositories for the servers
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
