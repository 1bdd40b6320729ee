import { z } from "zod";
import type { CloudClient } from "./client.js";
import { takeInventory, type CloudObject } from "./inventory.js";
import { listAll } from "./listing.js";
import { countedResources, type ClusterNeeds } from "./needs.js";
import { claimOn } from "./ownership.js";
import { quotaProblems, readQuotas, type QuotaName } from "./quotas.js";

export interface Finding {
  readonly severity: "problem" | "warning";
  /** `<what>: <what is wrong>; <what to do>`. */
  readonly text: string;
}

export interface PreflightOptions {
  /** Ids of what the stack already holds: these are neither foreign nor to be made again. */
  readonly owned?: ReadonlySet<string>;
}

const problem = (text: string): Finding => ({ severity: "problem", text });
const warning = (text: string): Finding => ({ severity: "warning", text });

const flavorSchema = z.looseObject({
  id: z.string(),
  name: z.string(),
  vcpus: z.number(),
  ram: z.number(),
  disk: z.number(),
});
type Flavor = z.infer<typeof flavorSchema>;
const imageSchema = z.looseObject({
  id: z.string(),
  name: z.string().nullable(),
  status: z.string(),
  min_disk: z.number(),
  min_ram: z.number(),
});
const namedSchema = z.looseObject({ id: z.string(), name: z.string() });

const matches = (wanted: string) => (found: { id: string; name: string | null }) =>
  found.name === wanted || found.id === wanted;
const known = (names: readonly (string | null)[]): string =>
  names.length === 0 ? "there are none" : `there are: ${names.slice(0, 12).join(", ")}`;

async function checkImages(client: CloudClient, needs: ClusterNeeds): Promise<Finding[]> {
  const images = await listAll(client, "image", "/images?limit=500", {
    key: "images",
    schema: imageSchema,
  });
  return needs.images.flatMap((wanted) => {
    const found = images.filter(matches(wanted));
    if (found.length === 0)
      return [problem(`image: '${wanted}' does not exist; ${known(images.map((i) => i.name))}`)];
    if (found.length > 1)
      return [problem(`image: ${found.length} images are called '${wanted}'; write its id`)];
    const status = found[0]?.status;
    return status === "active"
      ? []
      : [problem(`image: '${wanted}' is ${status ?? "gone"}, not active`)];
  });
}

/** The smallest machine kubeadm accepts as a control plane. */
const smallest = { vcpus: 2, ram: 1700 };

function checkFlavors(flavors: readonly Flavor[], needs: ClusterNeeds): Finding[] {
  return Object.keys(needs.flavors).flatMap((wanted) => {
    const found = flavors.find(matches(wanted));
    if (!found)
      return [problem(`flavor: '${wanted}' does not exist; ${known(flavors.map((f) => f.name))}`)];
    return found.vcpus < smallest.vcpus || found.ram < smallest.ram
      ? [
          warning(
            `flavor: '${wanted}' has ${found.vcpus} vCPU and ${found.ram} MiB; kubeadm wants 2 and ${smallest.ram}`,
          ),
        ]
      : [];
  });
}

async function checkExternalNetwork(client: CloudClient, needs: ClusterNeeds): Promise<Finding[]> {
  const networks = await listAll(client, "network", "/networks?router:external=true", {
    key: "networks",
    schema: namedSchema,
  });
  const found = networks.filter(matches(needs.externalNetwork));
  if (found.length === 1) return [];
  return [
    problem(
      found.length === 0
        ? `externalNetwork: '${needs.externalNetwork}' is not an external network; ${known(networks.map((n) => n.name))}`
        : `externalNetwork: ${found.length} external networks are called '${needs.externalNetwork}'; write its id`,
    ),
  ];
}

async function checkVolumeTypes(client: CloudClient, needs: ClusterNeeds): Promise<Finding[]> {
  if (needs.volumeTypes.length === 0) return [];
  if (!client.offers("volumev3"))
    return [problem("storageClasses: the cloud offers no block storage; set them to []")];
  const types = await listAll(client, "volumev3", "/types", {
    key: "volume_types",
    schema: namedSchema,
  });
  return needs.volumeTypes
    .filter((wanted) => !types.some(matches(wanted)))
    .map((wanted) =>
      problem(`volume type: '${wanted}' does not exist; ${known(types.map((t) => t.name))}`),
    );
}

const zoneSchema = z.looseObject({
  zoneName: z.string(),
  zoneState: z.object({ available: z.boolean() }),
});

async function checkZones(client: CloudClient, needs: ClusterNeeds): Promise<Finding[]> {
  if (needs.zones.length === 0) return [];
  const zones = await listAll(client, "compute", "/os-availability-zone", {
    key: "availabilityZoneInfo",
    schema: zoneSchema,
  });
  const open = zones.filter((zone) => zone.zoneState.available).map((zone) => zone.zoneName);
  return needs.zones
    .filter((wanted) => !open.includes(wanted))
    .map((wanted) => problem(`zone: '${wanted}' does not exist or is closed; ${known(open)}`));
}

function checkServices(client: CloudClient, needs: ClusterNeeds): Finding[] {
  return needs.counts["load balancers"] > 0 && !client.offers("load-balancer")
    ? [problem("load balancers: the cloud offers no load-balancer service; set samples to false")]
    : [];
}

/** Objects that would clash with ours: same kind and name, not in the stack, not tagged by us. */
function checkNames(
  objects: readonly CloudObject[],
  needs: ClusterNeeds,
  owned: ReadonlySet<string>,
): Finding[] {
  return needs.names.flatMap(({ kind, name }) =>
    objects
      .filter((object) => object.kind === kind && object.name === name && !owned.has(object.id))
      .map((object) =>
        problem(
          claimOn(object, needs.cluster) === undefined
            ? `${kind}: the name '${name}' is taken by ${object.id}, which this stack did not make; choose another cluster name`
            : `${kind}: '${name}' (${object.id}) is left of an earlier cluster of this name; run \`npx stackadm orphans --delete\``,
        ),
      ),
  );
}

/** What is still to be made: needs minus what the stack already holds. */
function stillWanted(
  needs: ClusterNeeds,
  flavors: readonly Flavor[],
  held: readonly CloudObject[],
): Partial<Record<QuotaName, number>> {
  const total = { instances: 0, cores: 0, "MiB of RAM": 0 };
  for (const [wanted, count] of Object.entries(needs.flavors)) {
    const flavor = flavors.find(matches(wanted));
    total.instances += count;
    total.cores += count * (flavor?.vcpus ?? 0);
    total["MiB of RAM"] += count * (flavor?.ram ?? 0);
  }
  const servers = held.filter(({ kind }) => kind === "server").length;
  const rest = total.instances === 0 ? 0 : Math.max(0, total.instances - servers) / total.instances;
  const count = (kind: CloudObject["kind"]): number =>
    held.filter((object) => object.kind === kind).length;
  const already: Partial<Record<QuotaName, number>> = {
    networks: count("network"),
    subnets: count("subnet"),
    routers: count("router"),
    ports: count("port"),
    "floating IPs": count("floating IP"),
    "security groups": count("security group"),
    volumes: count("volume"),
    "load balancers": count("load balancer"),
    "server groups": count("server group"),
  };
  return {
    instances: total.instances - servers,
    cores: Math.ceil(total.cores * rest),
    "MiB of RAM": Math.ceil(total["MiB of RAM"] * rest),
    ...Object.fromEntries(
      countedResources.map((name) => [name, needs.counts[name] - (already[name] ?? 0)]),
    ),
  };
}

/**
 * Everything that would make `up` fail later and that can be asked before the first write:
 * image, flavors, external network, zones, volume types, quotas, names. All findings in one list.
 */
export async function preflight(
  client: CloudClient,
  needs: ClusterNeeds,
  options: PreflightOptions = {},
): Promise<Finding[]> {
  const owned = options.owned ?? new Set<string>();
  const flavors = await listAll(client, "compute", "/flavors/detail", {
    key: "flavors",
    schema: flavorSchema,
  });
  const objects = await takeInventory(client);
  const ours = objects.filter(
    (object) => owned.has(object.id) || claimOn(object, needs.cluster) !== undefined,
  );
  const { quotas, unreadable } = await readQuotas(client);
  return [
    ...checkServices(client, needs),
    ...(await checkImages(client, needs)),
    ...checkFlavors(flavors, needs),
    ...(await checkExternalNetwork(client, needs)),
    ...(await checkZones(client, needs)),
    ...(await checkVolumeTypes(client, needs)),
    ...quotaProblems(quotas, stillWanted(needs, flavors, ours)).map(problem),
    ...checkNames(objects, needs, owned),
    ...unreadable.map((service) =>
      warning(`quota: the ${service} service does not show it to you`),
    ),
  ];
}
