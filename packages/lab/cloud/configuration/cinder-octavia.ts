import type { Zone } from "../../settings.js";
import type { Ini } from "../render-ini.js";
import {
  behindProxy,
  busAndLog,
  database,
  locks,
  ports,
  serviceLogin,
  tokenCheck,
  type CloudInputs,
} from "./common.js";

/** Returns the Cinder backend of a zone. Volumes are files in the zone's folder. */
const backend = (zone: Zone, zones: readonly Zone[]) => ({
  volume_driver: "labdriver.block_storage.cinder.LabVolumeDriver",
  volume_backend_name: "lab",
  backend_availability_zone: zone.name,
  lab_volume_dir: `/srv/lab/volumes/${zone.name}`,
  // All backends share one disk. Each backend reports its share of the disk.
  lab_backends: zones.length,
});

export const cinder = (inputs: CloudInputs): Ini => {
  const { settings } = inputs;
  const [first] = settings.zones;
  return {
    DEFAULT: {
      ...busAndLog(inputs),
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
      glance_api_servers: `http://${settings.management.cloud}:${ports.image}`,
      state_path: "/srv/lab/cinder",
    },
    database: database(inputs, "cinder"),
    // Uses the public interface. With the default (internal), Nova is not told that an attached
    // volume grows.
    nova: { interface: "public", ...serviceLogin(inputs) },
    oslo_concurrency: locks("cinder"),
    ...behindProxy,
    keystone_authtoken: tokenCheck(inputs, "volumev3"),
    ...Object.fromEntries(settings.zones.map((zone) => [zone.name, backend(zone, settings.zones)])),
  };
};

/**
 * Names of the lab's driver: its own name and `amphora`, which real clouds have and clients use by
 * default. The first boot replaces Octavia's amphora driver by the lab's driver.
 */
const octaviaDrivers =
  "amphora:the driver of the lab under the usual name; there are no amphorae,lab:network namespaces with haproxy";

export const octavia = (inputs: CloudInputs): Ini => {
  const { settings } = inputs;
  return {
    DEFAULT: busAndLog(inputs),
    api_settings: {
      bind_host: settings.management.cloud,
      bind_port: ports.loadBalancer,
      enabled_provider_drivers: octaviaDrivers,
      default_provider_driver: "amphora",
    },
    database: database(inputs, "octavia"),
    driver_agent: { enabled_provider_agents: "lab" },
    service_auth: serviceLogin(inputs),
    certificates: { barbican_auth: "lab", region_name: settings.region },
    neutron: { region_name: settings.region },
    lab: { network_host: settings.hostname },
    oslo_messaging: { topic: "octavia" },
    ...behindProxy,
    keystone_authtoken: tokenCheck(inputs, "load-balancer"),
  };
};
