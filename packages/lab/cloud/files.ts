import { readFileSync } from "node:fs";
import { join } from "node:path";
import { renderIni } from "./render-ini.js";
import type { CloudInputs } from "./configuration/common.js";
import {
  getGlanceConf,
  getKeystoneConf,
  getPlacementConf,
} from "./configuration/keystone-glance-placement.js";
import {
  getDhcpAgentConf,
  frontNamesFile,
  getL3AgentConf,
  getLinuxbridgeAgentConf,
  getMetadataAgentConf,
  getMl2Conf,
  getNeutronConf,
} from "./configuration/neutron.js";
import { getNovaConf, getNovaComputeConf } from "./configuration/nova.js";
import { getBarbicanConf } from "./configuration/barbican.js";
import { getCinderConf, getOctaviaConf } from "./configuration/cinder-octavia.js";
import { renderFrontDnsmasqConf, renderFrontServers, frontTlsFiles } from "../front/nginx.js";
import { getBootstrapEnvironment, getCloudOffering } from "./offering.js";
import {
  renderPackageServer,
  getRegistryAddress,
  renderRegistryConfiguration,
  tlsFiles,
  renderTlsServers,
} from "./nginx-and-registry.js";
import {
  baseDropIn,
  baseServices,
  maskedUnits,
  renderUnit,
  serverWeightUnit,
  listOpenStackServices,
  getUnitName,
} from "./units.js";

/** File in the cloud's root file system. */
export interface CloudFile {
  /** Absolute path inside the cloud. */
  readonly path: string;
  readonly content: string;
  /** Mode of the file. @default 0644 */
  readonly mode?: number;
}

/** Symbolic link in the cloud's root file system. */
export interface CloudLink {
  readonly path: string;
  readonly target: string;
}

const script = (name: string): CloudFile => ({
  path: `/usr/local/lib/lab/${name}`,
  content: readFileSync(join(__dirname, name), "utf8"),
  mode: 0o755,
});

function serviceConfigurations(inputs: CloudInputs): CloudFile[] {
  const files = {
    "/etc/keystone/keystone.conf": getKeystoneConf(inputs),
    "/etc/glance/glance-api.conf": getGlanceConf(inputs),
    "/etc/placement/placement.conf": getPlacementConf(inputs),
    "/etc/nova/nova.conf": getNovaConf(inputs),
    ...Object.fromEntries(
      inputs.settings.zones.map((zone) => [
        `/etc/nova/nova-compute-${zone.name}.conf`,
        getNovaComputeConf(zone),
      ]),
    ),
    "/etc/neutron/neutron.conf": getNeutronConf(inputs),
    "/etc/neutron/plugins/ml2/ml2_conf.ini": getMl2Conf(inputs),
    "/etc/neutron/plugins/ml2/linuxbridge_agent.ini": getLinuxbridgeAgentConf(inputs),
    "/etc/neutron/l3_agent.ini": getL3AgentConf(),
    "/etc/neutron/dhcp_agent.ini": getDhcpAgentConf(),
    "/etc/neutron/metadata_agent.ini": getMetadataAgentConf(inputs),
    "/etc/cinder/cinder.conf": getCinderConf(inputs),
    "/etc/octavia/octavia.conf": getOctaviaConf(inputs),
    "/etc/barbican/barbican.conf": getBarbicanConf(inputs),
  };
  return Object.entries(files).map(([path, ini]) => ({
    path,
    content: renderIni(ini),
    mode: 0o640,
  }));
}

/** Returns the content of /root/openrc, with the credentials of the cloud's administrator. */
const openrc = ({ settings, secrets }: CloudInputs): string => {
  const { AUTH_URL, REGION } = getBootstrapEnvironment(settings, secrets);
  return [
    `export OS_AUTH_URL=${AUTH_URL ?? ""} OS_REGION_NAME=${REGION ?? ""} OS_IDENTITY_API_VERSION=3`,
    `export OS_USERNAME=admin OS_PASSWORD=${secrets.admin} OS_PROJECT_NAME=admin`,
    "export OS_USER_DOMAIN_NAME=Default OS_PROJECT_DOMAIN_NAME=Default",
    "",
  ].join("\n");
};

const databaseServer = `[mysqld]
bind-address = 127.0.0.1
max_connections = 400
innodb_buffer_pool_size = 192M
performance_schema = off
# The cloud is thrown away, never recovered: no flush per commit, no double write, no binary log.
innodb_flush_log_at_trx_commit = 0
innodb_doublewrite = 0
skip-log-bin
`;

const hosts = ({ settings }: CloudInputs): string =>
  [
    "127.0.0.1 localhost",
    [settings.management.cloud, settings.hostname, ...settings.zones.map(({ host }) => host)].join(
      " ",
    ),
    "",
  ].join("\n");

function baseFiles(inputs: CloudInputs): CloudFile[] {
  const { settings, secrets } = inputs;
  const values = Object.entries(getBootstrapEnvironment(settings, secrets));
  return [
    { path: "/etc/hostname", content: `${settings.hostname}\n` },
    { path: "/etc/hosts", content: hosts(inputs) },
    {
      path: "/etc/systemd/journald.conf.d/lab.conf",
      content: "[Journal]\nStorage=persistent\nSystemMaxUse=200M\nRateLimitBurst=0\n",
    },
    { path: "/etc/mysql/mariadb.conf.d/90-lab.cnf", content: databaseServer },
    // Sets the node name before the first boot. After a later change of the name, rabbitmqctl and
    // `systemctl stop` hang for a minute.
    {
      path: "/etc/rabbitmq/rabbitmq-env.conf",
      content: "NODENAME=rabbit@localhost\nNODE_IP_ADDRESS=127.0.0.1\n",
    },
    { path: "/etc/nginx/sites-available/lab", content: renderPackageServer(settings) },
    { path: "/etc/nginx/conf.d/lab-tls.conf", content: renderTlsServers(settings) },
    { path: tlsFiles.certificate, content: secrets.tls.certificate },
    { path: tlsFiles.privateKey, content: secrets.tls.privateKey, mode: 0o600 },
    {
      path: "/etc/nginx/conf.d/lab-front.conf",
      content: renderFrontServers(settings, getRegistryAddress(settings)),
    },
    { path: frontTlsFiles.certificate, content: secrets.front.certificate },
    { path: frontTlsFiles.privateKey, content: secrets.front.privateKey, mode: 0o600 },
    { path: frontNamesFile, content: renderFrontDnsmasqConf(settings) },
    { path: "/etc/docker/registry/config.yml", content: renderRegistryConfiguration(settings) },
    {
      path: "/etc/lab/cloud.env",
      content: values.map(([name, value]) => `export ${name}=${value}\n`).join(""),
      mode: 0o600,
    },
    {
      path: "/etc/lab/offering.json",
      content: JSON.stringify(getCloudOffering(settings), null, 2),
    },
    { path: "/root/openrc", content: openrc(inputs), mode: 0o600 },
    ...baseServices.map((name) => ({
      path: `/etc/systemd/system/${name}.service.d/lab.conf`,
      content: baseDropIn,
    })),
  ];
}

/** Returns every file that turns a tree of Debian packages into the lab's cloud. */
export function listCloudFiles(inputs: CloudInputs): CloudFile[] {
  return [
    ...baseFiles(inputs),
    ...serviceConfigurations(inputs),
    { path: "/etc/systemd/system/lab-server-weight.service", content: serverWeightUnit },
    ...listOpenStackServices(inputs.settings).map((service) => ({
      path: `/etc/systemd/system/${getUnitName(service)}`,
      content: renderUnit(service),
    })),
    ...["wait-for-ports.sh", "first-boot.sh", "bootstrap.py", "ebtables.sh"].map(script),
  ];
}

export const listCloudLinks = (): CloudLink[] => [
  ...maskedUnits.map((unit) => ({ path: `/etc/systemd/system/${unit}`, target: "/dev/null" })),
  {
    path: "/etc/systemd/system/multi-user.target.wants/lab-server-weight.service",
    target: "/etc/systemd/system/lab-server-weight.service",
  },
  { path: "/etc/alternatives/ebtables", target: "/usr/local/lib/lab/ebtables.sh" },
  { path: "/etc/nginx/sites-enabled/lab", target: "/etc/nginx/sites-available/lab" },
  { path: "/etc/systemd/system/default.target", target: "/lib/systemd/system/multi-user.target" },
];

/** Files of Debian's packages that are removed from the cloud. */
export const removedFiles: readonly string[] = ["/etc/nginx/sites-enabled/default"];
