import type { CloudClient } from "../client/cloud-client.js";
import {
  listObjects,
  listVisibleObjects,
  type CloudObject,
  type CloudObjectKind,
  type VisibleObjects,
} from "../inventory/inventory.js";
import { getOwnership } from "../inventory/ownership.js";
import { readBalancerParts, type BalancerParts } from "./balancer-parts.js";
import {
  checkBlockStorage,
  checkPluginFindsVolumes,
  checkVolumeTypes,
} from "./block-storage-checks.js";
import { listOffer, type CloudOffer } from "./cloud-offer.js";
import {
  checkClusterCredential,
  credentialsUnsupportedProblem,
} from "./cluster-credential-check.js";
import { countedResources, type ClusterRequirements } from "./cluster-requirements.js";
import { checkControllerConnection } from "./connection-findings.js";
import { createProblem, createWarning, type Finding } from "./finding.js";
import { checkConfigDrive, checkDhcp, checkDockerHubPulls } from "./first-boot-warnings.js";
import { findMachineChanges } from "./machine-changes.js";
import { checkGroupSizes, checkMachines } from "./machine-fit.js";
import { getNeededQuota, listVolumesToCreate } from "./needed-quota.js";
import {
  checkExtensions,
  checkExternalNetworks,
  checkExternalSubnets,
  checkNetwork,
  findExistingNetworks,
  type ExistingNetworks,
} from "./network-checks.js";
import { checkVolumeZones, checkZones } from "./nova-and-cinder-zones.js";
import { checkKeyManager, checkLoadBalancers } from "./octavia-check.js";
import {
  findQuotaProblems,
  getQuotaRequirements,
  readQuotas,
  type QuotaName,
  type QuotaRequirement,
} from "./quotas.js";
import { findVolumeQuotaProblems, readVolumeQuotas, type VolumeQuotas } from "./volume-quotas.js";

export interface StackOwnedObjects {
  /**
   * IDs of the resources in the stack's state. These objects exist already, so they may have the
   * names of the cluster's objects.
   */
  readonly owned: ReadonlySet<string>;
  /** Identities of the clusters in the stack's state. */
  readonly identities: ReadonlySet<string>;
  /** Whether the state contains a credential for the cluster's controllers. Default: false. */
  readonly hasCredential?: boolean;
  /**
   * IDs of objects that the program deletes before it creates objects. The names of these objects
   * can be used again. Default: none.
   */
  readonly going?: ReadonlySet<string>;
}

export interface PreflightOptions extends Partial<StackOwnedObjects> {
  /**
   * Survey of the cloud that began before the state was read. Default: the preflight makes a
   * survey.
   */
  readonly surveyed?: CloudSurvey;
}

/**
 * Returns a text about an object that already has the name of an object to create. The text
 * contains the owner of the existing object and advice for the user.
 */
function describeNameConflict(object: CloudObject, identities: ReadonlySet<string>): string {
  const mark = getOwnership(object)?.mark;
  if (mark && identities.has(mark.identity))
    return `which belongs to this cluster but is not in the state, and no failed run explains that: the state may be outdated; restore the newer state, or delete this ${object.kind} in the cloud, then run the same command again`;
  if (!mark) return "which no cluster of stackadm created; choose another cluster name";
  return `which belongs to another cluster '${mark.name}' (identity ${mark.identity}): this stack's state does not have that cluster; choose another cluster name, set PULUMI_BACKEND_URL to the backend with its state, or, if its state is lost, run \`stackadm orphans --identity ${mark.identity}\`, which lists the cluster's objects and shows how to delete them`;
}

/**
 * Reports existing objects with the kind and name of an object that the program will create. Skips
 * names of objects that the stack already has.
 */
export function checkObjectNames(
  objects: readonly CloudObject[],
  needs: ClusterRequirements,
  { owned, identities, going = new Set() }: StackOwnedObjects,
): Finding[] {
  const staying = objects.filter(({ id }) => !going.has(id));
  return needs.names.flatMap(({ kind, name }) => {
    const alike = staying.filter((object) => object.kind === kind && object.name === name);
    if (alike.some(({ id }) => owned.has(id))) return [];
    return alike.map((object) =>
      createProblem(
        `${kind}: the name '${name}' is taken by ${object.id}, ${describeNameConflict(object, identities)}`,
      ),
    );
  });
}

/**
 * Lists the objects whose names could conflict. The preflight uses this list if the cloud does not
 * answer all requests of the survey.
 */
export async function listNamedObjects(
  client: CloudClient,
  needs: ClusterRequirements,
): Promise<CloudObject[]> {
  const named = [...new Set(needs.names.map(({ kind }) => kind))];
  const objects = await Promise.all(named.map((kind) => listObjects(client, kind)));
  return objects.flat();
}

/** Objects, offers and quotas of the cloud that the preflight needs for a cluster. */
export interface CloudSurvey extends CloudOffer, VisibleObjects {
  readonly quotas: Awaited<ReturnType<typeof readQuotas>>;
  /** Existing networks. Undefined: the program creates a network. */
  readonly networks: ExistingNetworks | undefined;
  /** Findings that do not depend on the existing objects of the cluster. */
  readonly always: readonly Finding[];
  /** Further answers. Absent: not requested yet, see {@link completeSurvey}. */
  readonly further?: FurtherAnswers;
}

/** Answers to requests that are sent only if the cluster needs new objects. */
interface FurtherAnswers {
  readonly volumes: VolumeQuotas | undefined;
  readonly parts: BalancerParts;
  readonly findings: readonly Finding[];
}

type CompleteSurvey = CloudSurvey & Required<Pick<CloudSurvey, "further">>;

/**
 * Returns a function that returns whether the cluster needs objects of a kind. The survey throws an
 * error if the user cannot list such a kind, because the user then cannot create objects of this
 * kind. Leaves out application credentials, because the preflight reports an alternative to them.
 */
const isKindNeeded =
  ({ counts }: ClusterRequirements) =>
  (kind: CloudObjectKind): boolean =>
    kind === "server" || countedResources.some((name) => name === `${kind}s` && counts[name] > 0);

/**
 * Sends all requests of the preflight at the same time. Does not decide which cluster owns the
 * listed objects.
 */
export async function takeCloudSurvey(
  client: CloudClient,
  needs: ClusterRequirements,
): Promise<CloudSurvey> {
  const listed = listOffer(client, needs);
  const networked = findExistingNetworks(client, needs);
  const [offer, networks, always, shown, quotas] = await Promise.all([
    listed,
    networked,
    checkServices(client, needs, { listed, networked }),
    listVisibleObjects(client, isKindNeeded(needs)),
    readQuotas(client),
  ]);
  return { ...offer, ...shown, networks, quotas, always };
}

interface Asked {
  readonly listed: Promise<CloudOffer>;
  readonly networked: Promise<ExistingNetworks | undefined>;
}

/**
 * Reports services and external networks that the cloud does not offer, and an existing subnet
 * without DHCP. These findings do not depend on the existing objects of the cluster.
 */
async function checkServices(
  client: CloudClient,
  needs: ClusterRequirements,
  { listed, networked }: Asked,
): Promise<Finding[]> {
  const findings = await Promise.all([
    checkLoadBalancers(client, needs),
    listed.then(({ externalNetworks }) => checkExternalNetworks(externalNetworks, needs)),
    networked.then((networks) => checkSubnet(client, needs, networks)),
  ]);
  return [
    ...findings.flat(),
    ...checkKeyManager(client, needs),
    ...checkDockerHubPulls(needs),
    ...checkBlockStorage(client, needs),
  ];
}

async function checkSubnet(
  client: CloudClient,
  needs: ClusterRequirements,
  networks: ExistingNetworks | undefined,
): Promise<Finding[]> {
  const [network, ...more] = networks?.found ?? [];
  return network && more.length === 0 ? checkDhcp(client, needs, network.id) : [];
}

/**
 * Reports what the cloud does not offer to the machines of the cluster.
 *
 * @param existing objects of the cluster that the run does not delete first
 */
function checkOffer(
  survey: CloudSurvey,
  needs: ClusterRequirements,
  existing: readonly CloudObject[],
  client: CloudClient,
): Finding[] {
  const { networks, zones, volumeTypes, volumeZones } = survey;
  const changes = findMachineChanges(needs.machines, existing);
  const volumes = existing.filter(({ kind }) => kind === "volume").map(({ name }) => name);
  return [
    ...checkNetwork(changes, networks, needs, client.projectId),
    ...checkMachines(changes, survey, needs),
    ...checkConfigDrive([...changes.missing, ...changes.replaced], survey),
    ...checkZones(changes, zones, needs),
    ...checkPluginFindsVolumes(changes, client, needs),
    ...checkVolumeTypes(changes, volumeTypes, needs),
    ...checkVolumeZones(changes, volumeZones, needs, new Set(volumes)),
  ];
}

/**
 * Returns the objects of the project that belong to the stack's clusters. Includes the ports that
 * Neutron and Octavia create for the clusters' networks and load balancers.
 */
function oursAmong(
  objects: readonly CloudObject[],
  { owned, identities }: Pick<StackOwnedObjects, "owned" | "identities">,
): CloudObject[] {
  const isOwned = (object: CloudObject): boolean =>
    owned.has(object.id) || identities.has(getOwnership(object)?.mark.identity ?? "none");
  const holders = new Set(
    objects
      .filter(isOwned)
      .flatMap(({ kind, id }) =>
        kind === "network" ? [id] : kind === "load balancer" ? [`lb-${id}`] : [],
      ),
  );
  const isPortOf = ({ kind, network, device }: CloudObject): boolean =>
    kind === "port" && (holders.has(network) || holders.has(device));
  return objects.filter((object) => isOwned(object) || isPortOf(object));
}

/**
 * Sends the requests that only a cluster with new machines, volumes, load balancers or floating IPs
 * needs. Sends no request if the cluster has all of them.
 */
export async function completeSurvey(
  client: CloudClient,
  needs: ClusterRequirements,
  survey: CloudSurvey,
  ownership: Pick<StackOwnedObjects, "owned" | "identities">,
): Promise<CompleteSurvey> {
  const { further, flavors, objects, quotas } = survey;
  if (further) return { ...survey, further };
  const ours = oursAmong(objects, ownership);
  const needed = getNeededQuota(needs, flavors, ours);
  const isNeeded = (name: QuotaName): boolean => (needed[name] ?? 0) > 0;
  const ids = ours.flatMap(({ kind, id }) => (kind === "load balancer" ? [id] : []));
  const grows = isNeeded("load balancers") || (isNeeded("instances") && isNeeded("members"));
  // Existing machines prove that Neutron has the extensions.
  const isNew = needed.instances === needs.machines.length;
  const [volumes, parts, ...findings] = await Promise.all([
    readVolumeQuotas(client, listVolumesToCreate(needs, ours)),
    grows && client.offers("load-balancer")
      ? readBalancerParts(client, quotas.limits, new Set(ids))
      : { quotas: {}, existing: {} },
    isNew ? checkExtensions(client, needs) : [],
    isNeeded("floating IPs") ? checkExternalSubnets(client, needs, survey.externalNetworks) : [],
  ]);
  return { ...survey, further: { volumes, parts, findings: findings.flat() } };
}

/** Reports quotas that are too small for the objects that the cluster still needs. */
function checkQuotas(
  { quotas, flavors, volumeTypes, further: { volumes, parts } }: CompleteSurvey,
  needs: ClusterRequirements,
  ours: readonly CloudObject[],
): Finding[] {
  const limit = quotas.limits["servers in a server group"];
  const needed = getNeededQuota(needs, flavors, ours, parts.existing);
  const created = listVolumesToCreate(needs, ours);
  return [
    ...checkGroupSizes(findMachineChanges(needs.machines, ours), needs.machines, limit),
    ...findQuotaProblems({ ...quotas.quotas, ...parts.quotas }, needed).map(createProblem),
    ...findVolumeQuotaProblems(created, volumes, volumeTypes).map(createProblem),
  ];
}

/**
 * Returns limit and use of each quota that the complete cluster needs. Skips quotas that the user
 * cannot read.
 */
export function getClusterQuotas(
  { quotas, flavors, objects, further: { parts } }: CompleteSurvey,
  needs: ClusterRequirements,
  ownership: StackOwnedObjects,
): QuotaRequirement[] {
  const whole = getNeededQuota(needs, flavors, []);
  const ours = oursAmong(objects, ownership);
  const rest = getNeededQuota(needs, flavors, ours, parts.existing);
  return getQuotaRequirements({ ...quotas.quotas, ...parts.quotas }, rest).filter(
    ({ name }) => (whole[name] ?? 0) > 0,
  );
}

/**
 * Reports all problems that the preflight can find before the first change and that would make `up`
 * fail later: image, flavors, external network, zones, volume types, load balancer provider, quotas
 * and names.
 */
export async function runPreflightChecks(
  client: CloudClient,
  needs: ClusterRequirements,
  options: PreflightOptions = {},
): Promise<Finding[]> {
  const { owned = new Set<string>(), identities = new Set<string>(), going, surveyed } = options;
  const { hasCredential = false } = options;
  const first = surveyed ?? (await takeCloudSurvey(client, needs));
  const found = await completeSurvey(client, needs, first, { owned, identities });
  const { objects, hidden, lacking, quotas, always } = found;
  const ours = oursAmong(objects, { owned, identities });
  const remaining = ours.filter(({ id }) => going?.has(id) !== true);
  const lacksCredentials =
    needs.makesCredential && [...hidden, ...lacking].includes("application credential");
  return [
    ...always,
    ...found.further.findings,
    ...checkOffer(found, needs, remaining, client),
    ...checkQuotas(found, needs, ours),
    ...checkObjectNames(objects, needs, { owned, identities, ...(going && { going }) }),
    ...(lacksCredentials ? [credentialsUnsupportedProblem] : []),
    // The cluster may be in the state without its credential, if the first run was interrupted.
    ...checkClusterCredential(client, needs, { exists: hasCredential }),
    ...checkControllerConnection(client, needs),
    ...quotas.unreadable.map((service) =>
      createWarning(`quota: the ${service} service does not show the quota to you`),
    ),
    ...hidden
      .filter((kind) => kind !== "application credential" || !lacksCredentials)
      .map((kind) =>
        createWarning(`${kind}: the cloud does not show them to you, so they were not checked`),
      ),
  ];
}
