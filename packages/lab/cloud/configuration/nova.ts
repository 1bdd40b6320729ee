import type { AvailabilityZone } from "../../settings.js";
import type { Ini } from "../render-ini.js";
import {
  proxyHeadersSection,
  getCommonDefaults,
  getDatabaseOptions,
  getConcurrencyOptions,
  managementPorts,
  getServiceCredentials,
  getAuthtokenOptions,
  type CloudInputs,
} from "./common.js";

const defaults = (inputs: CloudInputs) => {
  const address = inputs.settings.management.cloud;
  return {
    ...getCommonDefaults(inputs),
    my_ip: address,
    host: inputs.settings.hostname,
    // Nova loads drivers only from the package nova.virt. nova_compute.py registers this driver
    // there.
    compute_driver: "lab.LabDriver",
    state_path: "/srv/lab/nova",
    instances_path: "/srv/lab/nova/instances",
    enabled_apis: "osapi_compute,metadata",
    osapi_compute_listen: address,
    osapi_compute_workers: 1,
    metadata_listen: address,
    metadata_workers: 1,
    resume_guests_state_on_host_boot: true,
    // Disables Nova's periodic check of power states. The check would stop servers that are just
    // changing their state. The lab's driver itself reports each server that powers off.
    sync_power_state_interval: -1,
    allow_resize_to_same_host: true,
    cpu_allocation_ratio: 16,
    ram_allocation_ratio: 4,
    disk_allocation_ratio: 16,
    vif_plugging_timeout: 60,
    reclaim_instance_interval: 0,
  };
};

export const getNovaConf = (inputs: CloudInputs): Ini => {
  const login = getServiceCredentials(inputs);
  const { settings, secrets } = inputs;
  return {
    DEFAULT: defaults(inputs),
    api_database: getDatabaseOptions(inputs, "nova_api"),
    database: getDatabaseOptions(inputs, "nova"),
    conductor: { workers: 1 },
    scheduler: { workers: 1 },
    api: { auth_strategy: "keystone" },
    vnc: { enabled: false },
    glance: { api_servers: `http://${settings.management.cloud}:${managementPorts.image}` },
    // Region of the Keystone API that Nova calls to check whether a project exists.
    keystone: { region_name: settings.region },
    placement: login,
    neutron: {
      service_metadata_proxy: true,
      metadata_proxy_shared_secret: secrets.metadata,
      ...login,
    },
    cinder: { catalog_info: "volumev3::publicURL", os_region_name: settings.region, ...login },
    service_user: { send_service_user_token: true, ...login },
    oslo_concurrency: getConcurrencyOptions("nova"),
    ...proxyHeadersSection,
    upgrade_levels: { compute: "auto" },
    // Settings of the lab's Nova driver. All compute hosts run on one machine with one Neutron
    // agent.
    lab: { network_host: settings.hostname, hosts: settings.zones.length },
    keystone_authtoken: getAuthtokenOptions(inputs, "compute"),
  };
};

/** Returns the settings that the nova-compute of one zone reads after nova.conf. */
export const getNovaComputeConf = (zone: AvailabilityZone): Ini => ({
  DEFAULT: { host: zone.host },
});
