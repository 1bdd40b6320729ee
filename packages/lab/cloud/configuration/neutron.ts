import { cloudDevices } from "../../settings.js";
import type { Ini } from "../render-ini.js";
import {
  proxyHeadersSection,
  getCommonDefaults,
  getDatabaseOptions,
  getConcurrencyOptions,
  getServiceCredentials,
  getAuthtokenOptions,
  type CloudInputs,
} from "./common.js";

/** Configuration file of dnsmasq with the names of the hosts for which the lab's front answers. */
export const frontNamesFile = "/etc/neutron/dnsmasq-front.conf";

/**
 * Names of the physical networks in Neutron. The keys are the fields of {@link LabSettings} that
 * describe these networks.
 */
export const physicalNetworks = { external: "ext", services: "svc" } as const;

const flatNetworks = Object.values(physicalNetworks).join(",");
const mappings = (Object.keys(physicalNetworks) as (keyof typeof physicalNetworks)[])
  .map((one) => `${physicalNetworks[one]}:${cloudDevices[one]}`)
  .join(",");

export const getNeutronConf = (inputs: CloudInputs): Ini => ({
  DEFAULT: {
    ...getCommonDefaults(inputs),
    host: inputs.settings.hostname,
    bind_host: inputs.settings.management.cloud,
    core_plugin: "ml2",
    service_plugins: "router",
    auth_strategy: "keystone",
    api_workers: 1,
    rpc_workers: 1,
    rpc_state_report_workers: 0,
    global_physnet_mtu: inputs.settings.mtu,
    notify_nova_on_port_status_changes: true,
    notify_nova_on_port_data_changes: true,
    dhcp_agents_per_network: 1,
  },
  // Debian's Neutron refuses the experimental Linux bridge driver without this setting.
  experimental: { linuxbridge: true },
  database: getDatabaseOptions(inputs, "neutron"),
  nova: getServiceCredentials(inputs),
  agent: { root_helper: "sudo neutron-rootwrap /etc/neutron/rootwrap.conf" },
  oslo_concurrency: getConcurrencyOptions("neutron"),
  ...proxyHeadersSection,
  keystone_authtoken: getAuthtokenOptions(inputs, "network"),
});

export const getMl2Conf = ({ settings }: CloudInputs): Ini => ({
  ml2: {
    type_drivers: "flat,vxlan",
    tenant_network_types: "vxlan",
    mechanism_drivers: "linuxbridge",
    extension_drivers: "port_security",
    path_mtu: settings.mtu,
  },
  ml2_type_flat: { flat_networks: flatNetworks },
  ml2_type_vxlan: { vni_ranges: "1:1000" },
  securitygroup: { enable_ipset: true },
});

export const getLinuxbridgeAgentConf = ({ settings }: CloudInputs): Ini => ({
  linux_bridge: { physical_interface_mappings: mappings },
  vxlan: { enable_vxlan: true, local_ip: settings.management.cloud, l2_population: false },
  securitygroup: { firewall_driver: "iptables", enable_security_group: true, enable_ipset: true },
  agent: { polling_interval: 1 },
});

export const getL3AgentConf = (): Ini => ({ DEFAULT: { interface_driver: "linuxbridge" } });

export const getDhcpAgentConf = (): Ini => ({
  DEFAULT: {
    interface_driver: "linuxbridge",
    enable_isolated_metadata: true,
    // dnsmasq forwards the servers' DNS requests to the name servers in the cloud's resolv.conf.
    dnsmasq_local_resolv: true,
    // With this file, dnsmasq resolves the names of the front's hosts to the front's address.
    dnsmasq_config_file: frontNamesFile,
  },
});

export const getMetadataAgentConf = ({ settings, secrets }: CloudInputs): Ini => ({
  DEFAULT: {
    nova_metadata_host: settings.management.cloud,
    metadata_proxy_shared_secret: secrets.metadata,
    metadata_workers: 0,
  },
});
