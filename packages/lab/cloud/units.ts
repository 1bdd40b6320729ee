import type { LabSettings } from "../settings.js";
import { managementPorts } from "./configuration/common.js";

/** OpenStack service, run as the systemd unit `os-<name>`. */
export interface OpenStackService {
  readonly name: string;
  readonly command: string;
  /**
   * Ports that must accept connections before the service starts. Otherwise a call over the message
   * bus to a service that does not run yet would wait for 60 s.
   */
  readonly needs: readonly number[];
  /** Whether child processes (dnsmasq, metadata proxies) keep running when the service restarts. */
  readonly keepsChildren?: boolean;
}

const { database, bus, identity, placement, compute, network } = managementPorts;

const uwsgi = (address: string, port: number, file: string, processes = 1): string =>
  [
    `/usr/bin/uwsgi --plugin python3 --http-socket ${address}:${port} --wsgi-file ${file}`,
    // With --need-app, uwsgi exits if the application does not load, and systemd restarts uwsgi.
    // Without the option, uwsgi would answer 500.
    `--master --lazy-apps --need-app --processes ${processes} --buffer-size 65535`,
    "--die-on-term --disable-logging --add-header 'Connection: close'",
  ].join(" ");

const main = (module: string, argv0: string): string =>
  `/usr/bin/python3 -c 'import sys; sys.argv[0]="${argv0}"; from ${module} import main; main()'`;

const agent = (name: string): OpenStackService => ({
  name: `neutron-${name}`,
  command: `/usr/bin/neutron-${name}-agent --config-file /etc/neutron/neutron.conf --config-file /etc/neutron/${name}_agent.ini`,
  needs: [bus, network],
  keepsChildren: true,
});

const ml2 =
  "--config-file /etc/neutron/neutron.conf --config-file /etc/neutron/plugins/ml2/ml2_conf.ini";

const databaseAndBusPorts = [database, bus];

const commands = (on: string): readonly OpenStackService[] => {
  const nova = "--config-file /etc/nova/nova.conf";
  const cinder = "--config-file /etc/cinder/cinder.conf";
  const cinderService = (name: string): OpenStackService => ({
    name: `cinder-${name}`,
    command: `${main(`cinder.cmd.${name}`, `cinder-${name}`)} ${cinder}`,
    needs: databaseAndBusPorts,
  });
  const novaService = (name: string): OpenStackService => ({
    name: `nova-${name}`,
    command: `/usr/bin/nova-${name} ${nova}`,
    needs: databaseAndBusPorts,
  });
  const api = (name: string, port: number, file: string, processes = 1): OpenStackService => ({
    name,
    command: uwsgi(on, port, file, processes),
    needs: databaseAndBusPorts,
  });
  return [
    api("keystone", identity, "/usr/bin/keystone-wsgi-public", 2),
    api("placement", placement, "/usr/bin/placement-api"),
    {
      name: "neutron-server",
      command: `/usr/bin/neutron-server ${ml2}`,
      needs: databaseAndBusPorts,
    },
    ...["api", "conductor", "scheduler"].map(novaService),
    {
      name: "glance",
      command: "/usr/bin/glance-api --config-file /etc/glance/glance-api.conf",
      needs: databaseAndBusPorts,
    },
    ...["api", "scheduler", "volume"].map(cinderService),
    api("octavia-api", managementPorts.loadBalancer, "/usr/bin/octavia-wsgi"),
    api("barbican", managementPorts.secrets, "/usr/bin/barbican-wsgi-api"),
    {
      name: "octavia-driver-agent",
      command: "/usr/bin/octavia-driver-agent --config-file /etc/octavia/octavia.conf",
      needs: [...databaseAndBusPorts, identity],
    },
    {
      name: "neutron-linuxbridge",
      command: `/usr/bin/neutron-linuxbridge-agent ${ml2} --config-file /etc/neutron/plugins/ml2/linuxbridge_agent.ini`,
      needs: [bus, network],
    },
    ...["l3", "dhcp", "metadata"].map(agent),
  ];
};

/** Returns all OpenStack services of the cloud, in the order of their start. */
export const listOpenStackServices = ({
  management,
  zones,
}: LabSettings): readonly OpenStackService[] => [
  ...commands(management.cloud),
  ...zones.map(({ name }) => ({
    name: `nova-compute-${name}`,
    command: `/usr/bin/python3 -m labdriver.compute.nova_compute --config-file /etc/nova/nova.conf --config-file /etc/nova/nova-compute-${name}.conf`,
    needs: [bus, identity, placement, compute, network],
    keepsChildren: true,
  })),
];

/** Renders the unit. `TimeoutStopSec` is short, because `lab down` discards the whole cloud. */
export const renderUnit = (service: OpenStackService): string => `[Unit]
Description=OpenStack ${service.name}
After=mariadb.service rabbitmq-server.service memcached.service network.target

[Service]
Environment=PYTHONPATH=/opt/lab OS_SVC=${service.name}
RuntimeDirectory=octavia nova neutron cinder
RuntimeDirectoryPreserve=yes
ExecStartPre=/usr/local/lib/lab/wait-for-ports.sh ${service.needs.join(" ")}
ExecStart=${service.command}
TimeoutStartSec=180
Restart=always
RestartSec=2
KillMode=${service.keepsChildren ? "process" : "mixed"}
TimeoutStopSec=10
LimitNOFILE=20000

[Install]
WantedBy=multi-user.target
`;

export const getUnitName = (service: OpenStackService): string => `os-${service.name}.service`;

/**
 * Systemd units that must not run in the container. The container shares the host's kernel, so its
 * units must not change kernel settings or devices. The lab's own units replace the OpenStack units
 * of Debian.
 */
export const maskedUnits: readonly string[] = [
  ..."systemd-udevd.service systemd-udevd-kernel.socket systemd-udevd-control.socket".split(" "),
  ..."systemd-udev-trigger.service systemd-udev-settle.service systemd-sysctl.service".split(" "),
  ..."systemd-modules-load.service apt-daily.timer apt-daily-upgrade.timer fstrim.timer".split(" "),
  ..."dpkg-db-backup.timer e2scrub_all.timer e2scrub_reap.service man-db.timer".split(" "),
  ..."getty.target console-getty.service logrotate.timer ssh.service".split(" "),
  ..."haproxy.service keepalived.service radvd.service epmd.socket epmd.service".split(" "),
  ..."iscsid.service iscsid.socket open-iscsi.service multipathd.service multipathd.socket".split(
    " ",
  ),
  ..."keystone.service glance-api.service placement-api.service barbican-api.service uwsgi.service".split(
    " ",
  ),
  ..."nova-api.service nova-api-metadata.service nova-conductor.service".split(" "),
  ..."nova-scheduler.service neutron-linuxbridge-agent.service".split(" "),
  ..."neutron-l3-agent.service neutron-dhcp-agent.service neutron-metadata-agent.service".split(
    " ",
  ),
];

/**
 * Unit that raises the CPU weight of the control group of all servers. With control groups of
 * version 1, the group would get only as much CPU time as one process of a service. The unit sets
 * the weight of eight processes.
 */
export const serverWeightUnit = `[Unit]
Description=Processor weight of the servers
ConditionPathIsDirectory=/sys/fs/cgroup/cpu

[Service]
Type=oneshot
ExecStart=/bin/mkdir -p /sys/fs/cgroup/cpu/lab
ExecStart=/bin/sh -c 'echo 8192 >/sys/fs/cgroup/cpu/lab/cpu.shares'

[Install]
WantedBy=multi-user.target
`;

/**
 * Drop-in for the units of database, message bus and cache. In the container, systemd cannot raise
 * limits or lower OOM scores.
 */
export const baseDropIn = "[Service]\nLimitNOFILE=20000\nOOMScoreAdjust=0\nTimeoutStopSec=20\n";
export const baseServices = ["mariadb", "rabbitmq-server", "memcached"] as const;
