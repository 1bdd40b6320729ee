import { connectCloud } from "../../../openstack/client/cloud-client.js";
import type {
  ClusterRequirements,
  MachineRequirement,
  VolumeRequirement,
} from "../../../openstack/checks/cluster-requirements.js";
import { runPreflightChecks } from "../../../openstack/checks/preflight-checks.js";
import { emptyProject, fakeProject, startFakeCloud, type FakeCloud } from "./fake-openstack.js";

const pathsOf = (group: string): MachineRequirement["paths"] => ({
  group,
  flavor: `${group}.flavor`,
  image: "image",
  zone: "zones",
});

/** Returns a machine of the pool `general`. */
export const machine = (
  name: string,
  changes: Partial<MachineRequirement> = {},
): MachineRequirement => ({
  name: `dev-${name}`,
  paths: pathsOf("workers.general"),
  flavor: "small",
  image: "debian-12",
  zone: "a",
  generation: 0,
  kubeadmSize: "advised",
  grouped: true,
  ports: [`dev-${name}`],
  volumes: [],
  ...changes,
});

/** Returns a volume from which a machine of the pool `general` boots. */
export const rootVolume = (
  name: string,
  changes: Partial<VolumeRequirement> = {},
): VolumeRequirement => ({
  path: "workers.general.rootVolume",
  name: `dev-${name}-root`,
  size: 20,
  boots: true,
  ...changes,
});

export const controlPlane = machine("control-plane-0", {
  paths: pathsOf("controlPlane"),
  flavor: "big",
  kubeadmSize: "required",
});

/** Requirements of a cluster that needs every kind of object in the cloud. */
export const needs: ClusterRequirements = {
  cluster: "dev",
  openstackPlugin: "5.5.1",
  machines: [controlPlane, machine("general-0"), machine("general-1")],
  externalNetworks: { externalNetwork: "public" },
  podZones: [],
  sizeChecks: ["NumCPU", "Mem"],
  octavia: { providers: { "loadBalancer.provider": "amphora" }, flavors: {}, zones: {} },
  volumeTypes: ["fast"],
  spareZones: [],
  volumeZones: [],
  volumesFollowZones: false,
  suggestedPodNetworks: { usual: "kube-router", wrapped: "flannel" },
  makesCredential: true,
  controllersVerify: true,
  asksKeystone: false,
  filtersPorts: true,
  extensions: [
    {
      aliases: ["extraroute", "extraroute-atomic"],
      reason: "podNetwork: cloud-routes needs routers with static routes",
      instead: "write another pod network, such as kube-router",
    },
  ],
  ownersOnly: [],
  names: [
    { kind: "server", name: "dev-control-plane-0" },
    { kind: "network", name: "dev" },
  ],
  counts: {
    networks: 1,
    subnets: 1,
    routers: 1,
    ports: 6,
    "floating IPs": 2,
    "security groups": 4,
    "security group rules": 30,
    volumes: 1,
    "volume gigabytes": 1,
    "load balancers": 2,
    listeners: 2,
    pools: 2,
    members: 4,
    "health monitors": 2,
    "server groups": 2,
  },
};

export const flavor = (name: string, vcpus: number, ram: number, disk = 20) => ({
  id: `id-of-${name}`,
  name,
  vcpus,
  ram,
  disk,
});
/** Flavors of the machines in `needs`. */
export const flavors = [flavor("big", 4, 8192), flavor("small", 2, 2048)];
export const image = (id: string, status = "active") => ({
  id,
  name: "debian-12",
  status,
  min_disk: 0,
  min_ram: 0,
});

/**
 * Returns the findings of the preflight checks for the cluster in `needs` with `changes`, as
 * `severity: text`. `owned` contains the IDs of the objects that the stack already has.
 */
export async function findingsOf(
  cloud: FakeCloud,
  changes: Partial<ClusterRequirements> = {},
  owned: readonly string[] = [],
): Promise<string[]> {
  const client = await connectCloud({ env: cloud.environment() });
  const findings = await runPreflightChecks(
    client,
    { ...needs, ...changes },
    { owned: new Set(owned) },
  );
  return findings.map(({ severity, text }) => `${severity}: ${text}`);
}

/** Prepares a cloud that meets all requirements in `needs`. */
export function wellEquipped(cloud: FakeCloud): void {
  emptyProject(cloud);
  cloud.on("GET /compute/flavors/detail", { body: { flavors } });
  cloud.on("GET /image/images", { body: { images: [image("i")] } });
  // The external networks and the project's own networks have the same path but different queries.
  cloud.on("GET /network/networks?router:external=true", {
    body: { networks: [{ id: "e", name: "public" }] },
  });
  cloud.on("GET /network/extensions", { body: { extensions: [{ alias: "extraroute" }] } });
  cloud.on("GET /volumev3/types", { body: { volume_types: [{ id: "t", name: "fast" }] } });
  cloud.on("GET /compute/os-availability-zone", {
    body: {
      availabilityZoneInfo: [
        { zoneName: "a", zoneState: { available: true } },
        { zoneName: "closed", zoneState: { available: false } },
      ],
    },
  });
  cloud.on("GET /volumev3/os-availability-zone", {
    body: { availabilityZoneInfo: [{ zoneName: "store", zoneState: { available: true } }] },
  });
  limits(cloud, { maxTotalCores: 20, totalCoresUsed: 0 });
  cloud.on("GET /volumev3/limits", {
    body: { limits: { absolute: { maxTotalVolumes: 10, totalVolumesUsed: 0 } } },
  });
  const plenty = { limit: 50, used: 0, reserved: 0 };
  cloud.on(`GET /network/quotas/${fakeProject}/details`, {
    body: { quota: { network: plenty, port: plenty, floatingip: plenty, router: plenty } },
  });
  cloud.on(`GET /load-balancer/lbaas/quotas/${fakeProject}`, {
    body: { quota: { load_balancer: 10 } },
  });
  const providers = ["amphora", "ovn"].map((name) => ({ name, description: `${name} driver` }));
  cloud.on("GET /load-balancer/lbaas/providers", { body: { providers } });
}

export function limits(cloud: FakeCloud, changes: Readonly<Record<string, number>>): void {
  const absolute = {
    maxTotalInstances: 10,
    totalInstancesUsed: 0,
    maxTotalRAMSize: 51200,
    totalRAMUsed: 0,
    ...changes,
  };
  cloud.on("GET /compute/limits", { body: { limits: { absolute } } });
}

/** Starts a cloud with everything in `needs` before each test, and stops it after the test. */
export function useEquippedCloud(use: (cloud: FakeCloud) => void): void {
  let cloud: FakeCloud;
  beforeEach(async () => {
    cloud = await startFakeCloud();
    wellEquipped(cloud);
    use(cloud);
  });
  afterEach(() => cloud.close());
}

/** Returns Nova's servers of the machines, with the IDs 0, 1 and so on. */
export const serversOf = (machines: readonly MachineRequirement[]) =>
  machines.map(({ name, generation }, index) => ({
    id: String(index),
    name,
    status: "ACTIVE",
    metadata: { "stackadm-generation": String(generation) },
  }));
