import type { LabExternalNetwork, LabSettings } from "../settings.js";
import {
  getApiUrl,
  getIdentityUrl,
  managementPorts,
  getRegion,
  type ApiTransport,
} from "./configuration/common.js";
import { physicalNetworks } from "./configuration/neutron.js";
import type { LabSecrets } from "./secrets.js";

/** Name of the tenant's project and of the tenant's user. */
export const tenantName = "demo";
/** Roles of the tenant's user. Barbican accepts secrets only from the role `creator`. */
const roles = ["member", "creator"];
export const serverImageName = "debian-12";
export const externalNetworkName = "public";
/** Name of the second external network, for stacks that use separate floating IPs for Services. */
export const servicesExternalNetworkName = "services";

/**
 * Glance ID of the server image. The ID is fixed, because the build of the golden cloud unpacks the
 * image into a folder with this name.
 */
export const serverImageId = "6f1c7c52-0d5e-4f5e-9d0b-4c9c5f1d0d12";

const flavor = (name: string, vcpus: number, ram: number, disk: number) => ({
  name,
  vcpus,
  ram,
  disk,
});

/** Returns the services in the catalog with their addresses in each region. */
const catalog = (settings: LabSettings) => {
  const at = (transports: readonly ApiTransport[], port: number, path = "") => ({
    urls: Object.fromEntries(
      transports.map((transport) => [
        getRegion(settings, transport),
        getApiUrl(settings, { transport, port, path }),
      ]),
    ),
  });
  const both = ["http", "https"] as const;
  return [
    // `keystone-manage bootstrap` has already created the service and its HTTP endpoints.
    { type: "identity", name: "keystone", ...at(["https"], managementPorts.identity, "/v3") },
    { type: "image", name: "glance", ...at(both, managementPorts.image) },
    { type: "placement", name: "placement", ...at(both, managementPorts.placement) },
    { type: "compute", name: "nova", ...at(both, managementPorts.compute, "/v2.1") },
    { type: "network", name: "neutron", ...at(both, managementPorts.network) },
    { type: "volumev3", name: "cinder", ...at(both, managementPorts.volume, "/v3/%(project_id)s") },
    {
      type: "block-storage",
      name: "cinder",
      ...at(both, managementPorts.volume, "/v3/%(project_id)s"),
    },
    { type: "load-balancer", name: "octavia", ...at(both, managementPorts.loadBalancer) },
    { type: "key-manager", name: "barbican", ...at(both, managementPorts.secrets) },
  ];
};

/**
 * Quotas of the tenant; -1 means unlimited. The quotas are sufficient for the largest example, and
 * small enough for tests to exceed them.
 */
const quotas = {
  compute: {
    instances: 20,
    cores: 40,
    ram: 49_152,
    key_pairs: 20,
    server_groups: 20,
    server_group_members: 20,
  },
  network: {
    network: 20,
    subnet: 20,
    router: 10,
    port: 200,
    floatingip: 30,
    security_group: 50,
    security_group_rule: 500,
  },
  volume: { volumes: 50, gigabytes: 500, snapshots: 20 },
  loadBalancer: { load_balancer: 20, listener: 50, pool: 50, member: 200, health_monitor: 50 },
};

const externalNetwork = (
  name: string,
  physicalNetwork: string,
  { cidr, host: gateway, first, last }: LabExternalNetwork,
) => ({ name, physicalNetwork, cidr, gateway, first, last });

/**
 * Returns the input of bootstrap.py: everything that an operator adds to the empty cloud, except
 * passwords.
 */
export const getCloudOffering = (settings: LabSettings) => ({
  tenant: tenantName,
  roles,
  // `keystone-manage bootstrap` has already created the region for plain HTTP.
  regions: [getRegion(settings, "https")],
  catalog: catalog(settings),
  image: {
    id: serverImageId,
    name: serverImageName,
    file: "/srv/image.tar.zst",
    properties: { os_distro: "debian", os_version: "12", os_admin_user: "debian" },
  },
  flavors: [
    flavor("small", 1, 512, 5),
    flavor("k8s-control-plane", 2, 3072, 20),
    flavor("k8s-worker", 2, 2048, 20),
  ],
  externalNetworks: [
    externalNetwork(externalNetworkName, physicalNetworks.external, settings.external),
    externalNetwork(servicesExternalNetworkName, physicalNetworks.services, settings.services),
  ],
  volumeTypes: [
    {
      name: "standard",
      description: "files without any promise",
      extraSpecs: { volume_backend_name: "lab" },
    },
    {
      name: "gold",
      description: "the same files, another name to ask for",
      extraSpecs: { volume_backend_name: "lab" },
    },
  ],
  zones: settings.zones,
  quotas,
});

/** Returns the environment of first-boot.sh and bootstrap.py. */
export const getBootstrapEnvironment = (
  settings: LabSettings,
  secrets: LabSecrets,
): Record<string, string> => ({
  REGION: settings.region,
  AUTH_URL: getIdentityUrl(settings),
  DATABASE_PASSWORD: secrets.database,
  BUS_PASSWORD: secrets.bus,
  SERVICE_PASSWORD: secrets.service,
  ADMIN_PASSWORD: secrets.admin,
  DEMO_PASSWORD: secrets.demo,
});
