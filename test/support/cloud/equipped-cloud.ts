import { connectCloud } from "../../../openstack/client/cloud-client.js";
import type { ClusterRequirements } from "../../../openstack/checks/cluster-requirements.js";
import { runPreflightChecks } from "../../../openstack/checks/preflight-checks.js";
import { emptyProject, fakeProject, type FakeCloud } from "./fake-openstack.js";

/** Requirements of a cluster that needs every kind of object in the cloud. */
export const needs: ClusterRequirements = {
  cluster: "dev",
  images: ["debian-12"],
  externalNetworks: { externalNetwork: "public" },
  flavors: { big: 1, small: 2 },
  nodeFlavors: ["big", "small"],
  podZones: [],
  controlPlaneFlavors: ["big"],
  sizeChecks: ["NumCPU", "Mem"],
  octavia: { providers: { "loadBalancer.provider": "amphora" }, flavors: {}, zones: {} },
  volumeTypes: ["fast"],
  zones: ["a"],
  volumeZones: [],
  volumesFollowZones: false,
  unplacedVolumes: [],
  volumeSizes: {},
  suggestedPodNetworks: { usual: "kube-router", wrapped: "flannel" },
  makesCredential: true,
  controllersVerify: true,
  asksKeystone: false,
  routes: "cloud-routes",
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
    "server groups": 2,
  },
};

export const flavor = (name: string, vcpus: number, ram: number) => ({
  id: `id-of-${name}`,
  name,
  vcpus,
  ram,
  disk: 20,
});
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
  cloud.on("GET /compute/flavors/detail", {
    body: { flavors: [flavor("big", 4, 8192), flavor("small", 2, 2048)] },
  });
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
