import type { CloudClient } from "./client.js";
import { credentialFindings, withoutCredentials } from "./cluster-credential.js";
import { connectionFindings } from "./connection.js";
import { problem, warning, type Finding } from "./finding.js";
import { listObjects, takeShown, type CloudObject, type Kind, type Shown } from "./inventory.js";
import { countedResources, type ClusterNeeds } from "./needs.js";
import { checkOffering, listOffer, type Flavor, type Offer } from "./offering.js";
import { ownershipOf } from "./ownership.js";
import { quotaProblems, quotaUses, readQuotas, type QuotaName, type QuotaUse } from "./quotas.js";
import { meantBy } from "./reference.js";
import { listVolumeZones, volumeZoneFindings, type Zones } from "./zones.js";

export interface Held {
  /** Ids of what the stack already holds: these are neither foreign nor to be made again. */
  readonly owned: ReadonlySet<string>;
  /** Identities of the clusters that the stack holds. */
  readonly identities: ReadonlySet<string>;
  /** Whether the stack holds a credential for the cluster's controllers, whoever made it. Default: it does not. */
  readonly hasCredential?: boolean;
  /** IDs of what goes before anything is made: its name is free then. Default: nothing. */
  readonly going?: ReadonlySet<string>;
}

export interface PreflightOptions extends Partial<Held> {
  /** What was asked before the state was known. Default: it is asked now. */
  readonly surveyed?: Survey;
}

/** Whose the object is that has the name we want, and what to do about it. */
function occupant(object: CloudObject, identities: ReadonlySet<string>): string {
  const mark = ownershipOf(object)?.mark;
  if (mark && identities.has(mark.identity))
    return `which is this cluster's own, but the state does not hold it, and nothing proves that a run which failed has left it: the state may be an old one; bring back the newer one, or delete this ${object.kind} in the cloud, then run it again`;
  if (!mark) return "which no cluster of stackadm made; choose another cluster name";
  const whose = `which belongs to another cluster '${mark.name}'`;
  return mark.identity === ""
    ? `${whose}; choose another cluster name`
    : `${whose} (identity ${mark.identity}): this stack's state does not hold it; choose another cluster name, set PULUMI_BACKEND_URL to where its state is, or, if its state is lost for good: \`npx stackadm orphans --identity ${mark.identity}\` shows it and says how it is deleted`;
}

/** Objects that would clash with what is to be made: same kind and name, and the stack has none of its own. */
export function nameProblems(
  objects: readonly CloudObject[],
  needs: ClusterNeeds,
  { owned, identities, going = new Set() }: Held,
): Finding[] {
  const staying = objects.filter(({ id }) => !going.has(id));
  return needs.names.flatMap(({ kind, name }) => {
    const alike = staying.filter((object) => object.kind === kind && object.name === name);
    if (alike.some(({ id }) => owned.has(id))) return [];
    return alike.map((object) =>
      problem(
        `${kind}: the name '${name}' is taken by ${object.id}, ${occupant(object, identities)}`,
      ),
    );
  });
}

/** Objects that may have these names: all that is asked of a cloud which does not answer the other questions. */
export async function namedObjects(
  client: CloudClient,
  needs: ClusterNeeds,
): Promise<CloudObject[]> {
  const named = [...new Set(needs.names.map(({ kind }) => kind))];
  const objects = await Promise.all(named.map((kind) => listObjects(client, kind)));
  return objects.flat();
}

/** What is still to be made: needs minus what the stack already holds. */
function stillWanted(
  needs: ClusterNeeds,
  flavors: readonly Flavor[],
  held: readonly CloudObject[],
): Partial<Record<QuotaName, number>> {
  const total = { instances: 0, cores: 0, "MiB of RAM": 0 };
  for (const [wanted, count] of Object.entries(needs.flavors)) {
    const [flavor] = meantBy(wanted, flavors);
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
    "security group rules": held.reduce((sum, { rules }) => sum + rules, 0),
    volumes: count("volume"),
    "volume gigabytes": held
      .filter(({ kind }) => kind === "volume")
      // One that is there is not made larger now.
      .reduce((sum, { name, gigabytes }) => sum + (needs.volumeSizes[name] ?? gigabytes), 0),
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

/** What the cloud has and allows, as far as it matters to a cluster. */
export interface Survey extends Offer, Shown {
  readonly quotas: Awaited<ReturnType<typeof readQuotas>>;
  /** Cinder's. Undefined: nobody asked. */
  readonly volumeZones: Zones | undefined;
  /** What it does not offer. */
  readonly missing: readonly Finding[];
}

/**
 * Whether the plan itself makes some: then what there is has to be known, and one could not make them either. Of application credentials it
 * is said what to write instead.
 */
const makes =
  ({ counts }: ClusterNeeds) =>
  (kind: Kind): boolean =>
    kind === "server" || countedResources.some((name) => name === `${kind}s` && counts[name] > 0);

/** Asks the cloud everything at once. Whose the objects are is not known here. */
export async function survey(client: CloudClient, needs: ClusterNeeds): Promise<Survey> {
  const listed = listOffer(client, needs);
  const [offer, missing, shown, quotas, volumeZones] = await Promise.all([
    listed,
    listed.then((all) => checkOffering(client, needs, all)),
    takeShown(client, makes(needs)),
    readQuotas(client),
    listVolumeZones(client, needs),
  ]);
  return { ...offer, ...shown, quotas, missing, volumeZones };
}

/** What of the project is the stack's. */
const oursAmong = (
  objects: readonly CloudObject[],
  { owned, identities }: Pick<Held, "owned" | "identities">,
): CloudObject[] =>
  objects.filter(
    (object) =>
      owned.has(object.id) || identities.has(ownershipOf(object)?.mark.identity ?? "none"),
  );

/** Limit and use of what the whole cluster needs of the project's quotas, as far as they can be read. */
export function quotasFor(
  { quotas, flavors, objects }: Survey,
  needs: ClusterNeeds,
  held: Held,
): QuotaUse[] {
  const whole = stillWanted(needs, flavors, []);
  const rest = stillWanted(needs, flavors, oursAmong(objects, held));
  return quotaUses(quotas.quotas, rest).filter(({ name }) => (whole[name] ?? 0) > 0);
}

/**
 * Everything that would make `up` fail later and that can be asked before the first write:
 * image, flavors, external network, zones, volume types, load balancer provider, quotas, names. All findings in one list.
 */
export async function preflight(
  client: CloudClient,
  needs: ClusterNeeds,
  options: PreflightOptions = {},
): Promise<Finding[]> {
  const { owned = new Set<string>(), identities = new Set<string>(), going, surveyed } = options;
  const { hasCredential = false } = options;
  const found = await (surveyed ?? survey(client, needs));
  const { flavors, objects, hidden, lacking, quotas, missing, volumeZones } = found;
  const ours = oursAmong(objects, { owned, identities });
  const lacksCredentials =
    needs.makesCredential && [...hidden, ...lacking].includes("application credential");
  const volumes = ours.filter(({ kind }) => kind === "volume").map(({ name }) => name);
  return [
    ...missing,
    ...volumeZoneFindings(needs, volumeZones, new Set(volumes)),
    ...quotaProblems(quotas.quotas, stillWanted(needs, flavors, ours)).map(problem),
    ...nameProblems(objects, needs, { owned, identities, ...(going && { going }) }),
    ...(lacksCredentials ? [withoutCredentials] : []),
    // A first run may have been stopped before it made one.
    ...credentialFindings(client, needs, { lives: hasCredential }),
    ...connectionFindings(client, needs),
    ...quotas.unreadable.map((service) =>
      warning(`quota: the ${service} service does not show it to you`),
    ),
    ...hidden
      .filter((kind) => kind !== "application credential" || !lacksCredentials)
      .map((kind) =>
        warning(`${kind}: the cloud does not show to you whether the project has any`),
      ),
  ];
}
