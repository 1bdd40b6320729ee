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

/** Returns the Cinder backend of a zone. Volumes are files in the zone's folder. */
const backend = (zone: AvailabilityZone, zones: readonly AvailabilityZone[]) => ({
  volume_driver: "labdriver.block_storage.cinder.LabVolumeDriver",
  volume_backend_name: "lab",
  backend_availability_zone: zone.name,
  lab_volume_dir: `/srv/lab/volumes/${zone.name}`,
  // Number of backends that share the disk. Each backend reports an equal part of the capacity.
  lab_backends: zones.length,
});

export const getCinderConf = (inputs: CloudInputs): Ini => {
  const { settings } = inputs;
  const [first] = settings.zones;
  return {
    DEFAULT: {
      ...getCommonDefaults(inputs),
      my_ip: settings.management.cloud,
      host: settings.hostname,
      auth_strategy: "keystone",
      osapi_volume_listen: settings.management.cloud,
      osapi_volume_workers: 1,
      enabled_backends: settings.zones.map(({ name }) => name).join(","),
      default_volume_type: "standard",
      // Interval in seconds (default 60). The scheduler refuses volumes in a zone until the zone's
      // backend has reported.
      backend_stats_polling_interval: 10,
      ...(first && { storage_availability_zone: first.name }),
      glance_api_servers: `http://${settings.management.cloud}:${managementPorts.image}`,
      state_path: "/srv/lab/cinder",
    },
    database: getDatabaseOptions(inputs, "cinder"),
    // With the default interface (internal), Cinder does not tell Nova that an attached volume has
    // grown.
    nova: { interface: "public", ...getServiceCredentials(inputs) },
    oslo_concurrency: getConcurrencyOptions("cinder"),
    ...proxyHeadersSection,
    keystone_authtoken: getAuthtokenOptions(inputs, "volumev3"),
    ...Object.fromEntries(settings.zones.map((zone) => [zone.name, backend(zone, settings.zones)])),
  };
};

/**
 * Provider names of Octavia with their descriptions. Both names select the lab's driver. Clients
 * use `amphora` by default, and first-boot.sh registers the lab's driver under this name.
 */
const octaviaDrivers =
  "amphora:the driver of the lab under the usual name; there are no amphorae,lab:network namespaces with haproxy";

export const getOctaviaConf = (inputs: CloudInputs): Ini => {
  const { settings } = inputs;
  return {
    DEFAULT: getCommonDefaults(inputs),
    api_settings: {
      bind_host: settings.management.cloud,
      bind_port: managementPorts.loadBalancer,
      enabled_provider_drivers: octaviaDrivers,
      default_provider_driver: "amphora",
    },
    database: getDatabaseOptions(inputs, "octavia"),
    driver_agent: { enabled_provider_agents: "lab" },
    service_auth: getServiceCredentials(inputs),
    certificates: { barbican_auth: "lab", region_name: settings.region },
    neutron: { region_name: settings.region },
    lab: { network_host: settings.hostname },
    oslo_messaging: { topic: "octavia" },
    ...proxyHeadersSection,
    keystone_authtoken: getAuthtokenOptions(inputs, "load-balancer"),
  };
};
