import {
  listVisibleObjects,
  type CloudObject,
  type VisibleObjects,
} from "../../openstack/inventory/inventory.js";
import type { OwnedObject } from "../../openstack/inventory/marked-objects.js";
import { removeUrlPassword } from "../../base/url-passwords.js";
import {
  findFloatingIpService,
  policiesWithoutApi,
  type RetentionPolicies,
} from "./retention-policies.js";
import {
  findClusterObjects,
  type ClusterObject,
  type Disposal,
} from "../repair/object-attribution.js";
import type {
  ClaimedVolume,
  DestroyPlan,
  KeptObject,
  VolumeSnapshot,
} from "../engine/operation-options.js";
import { findProtectionError, type ProtectionFacts } from "../guards/destroy-protection.js";
import { findClusterComponents, findStackOwnership, isEmptyStack } from "../pulumi/stack-state.js";
import { getCloudPlace } from "../guards/identify-clusters.js";

/** Part of the plan that a step of the destroy adds. */
export interface DestroyStepDescription {
  /** Answers of the clusters' APIs. Absent if the APIs are not asked. */
  readonly policies?: RetentionPolicies;
  readonly others?: DestroyPlan["others"];
}

export interface DestroyPlanFacts extends ProtectionFacts {
  /**
   * Listing of the project's objects that was started early. Absent if the plan must start the
   * listing.
   */
  inventory?: Promise<VisibleObjects>;
}

/** Starts to list the project's objects, while the state and the clusters are read. */
export function startInventory(facts: DestroyPlanFacts): void {
  facts.inventory = facts.run.cloud().then(listVisibleObjects);
  facts.inventory.catch(() => undefined);
}

/**
 * Returns the names of the clusters from the tags and metadata of the clusters' objects. Returns
 * the name of the Pulumi component for a cluster without such objects.
 */
const namesOf = (
  components: ReadonlyMap<string, string>,
  marked: readonly OwnedObject[],
): readonly string[] => {
  const inCloud = new Map(marked.map(({ mark }) => [mark.identity, mark.name]));
  return [...new Set([...components].map(([id, component]) => inCloud.get(id) ?? component))];
};

type Sorted = Pick<DestroyPlan, "goes" | "volumes" | "floatingIps" | "snapshots" | "stays">;

/**
 * Divides the stack's objects into objects that a destroy deletes (`goes`) and objects that a
 * destroy keeps (`stays`). Volumes, floating IPs and snapshots of the clusters' controllers are in
 * separate lists, where each object has a `fate`.
 */
function divideObjects(
  inventory: readonly CloudObject[],
  objects: readonly ClusterObject[],
  ownership: ReturnType<typeof findStackOwnership>,
  fates: RetentionPolicies,
): Sorted {
  const disposed = (disposal: Disposal): CloudObject[] =>
    objects.flatMap((one) => (one.disposal === disposal ? [one.object] : []));
  const released = disposed("released");
  const kept = new Set(released.map(({ id }) => id));
  const otherwise = { claim: "", fate: fates.otherwise };
  const volumes = inventory.flatMap(({ kind, id, name, gigabytes }): ClaimedVolume[] => {
    const known = fates.claims.get(id) ?? (kept.has(id) ? otherwise : undefined);
    return kind === "volume" && known ? [{ id, name, gigabytes, ...known }] : [];
  });
  const floatingIps = released
    .filter(({ kind }) => kind === "floating IP")
    .map((object) => findFloatingIpService(object, fates));
  const known = new Set(fates.snapshots.map(({ id }) => id));
  const others = released
    .filter(({ kind, id }) => kind === "volume snapshot" && !known.has(id))
    .map(({ id }): VolumeSnapshot => ({ id, snapshot: "", volume: "", fate: fates.otherwise }));
  const snapshots = [...fates.snapshots, ...others];
  const apart = new Set([...volumes, ...floatingIps, ...snapshots].map(({ id }) => id));
  const isListed = ({ id }: CloudObject): boolean => !apart.has(id);
  const stays = disposed("keep")
    .filter(isListed)
    .map((one): KeptObject => (ownership.retained.has(one.id) ? { ...one, retained: true } : one));
  return {
    goes: disposed("delete").filter(isListed),
    volumes,
    floatingIps,
    snapshots,
    ...(stays.length > 0 && { stays }),
  };
}

/**
 * Returns the plan of a destroy from the facts and from the descriptions of the destroy's steps.
 */
export async function createDestroyPlan(
  { run, settings, state, inventory }: DestroyPlanFacts,
  descriptions: readonly DestroyStepDescription[],
): Promise<DestroyPlan> {
  const cloud = await run.cloud();
  const { objects: all, hidden } = await (inventory ?? listVisibleObjects(cloud));
  const where = {
    place: getCloudPlace(cloud),
    backend: removeUrlPassword(run.service.backend),
    ...(hidden.length > 0 && { hidden }),
  };
  if (!state || isEmptyStack(state)) {
    const nothing = { goes: [], volumes: [], floatingIps: [], snapshots: [] };
    const whose = { cluster: settings.name, clusters: [settings.name], identities: [] };
    return { ...whose, ...where, held: false, ...nothing };
  }
  const { policies = policiesWithoutApi, others } = Object.assign(
    {},
    ...descriptions,
  ) as DestroyStepDescription;
  const [components, ownership] = [findClusterComponents(state), findStackOwnership(state)];
  const objects = findClusterObjects(all, ownership);
  const names = namesOf(
    components,
    objects.flatMap(({ marked = [] }) => marked),
  );
  const [cluster = settings.name, ...more] = names;
  const protection = findProtectionError(run, settings, state);
  const { problem } = policies;
  return {
    cluster,
    clusters: [cluster, ...more],
    identities: [...components.keys()],
    ...where,
    held: true,
    ...divideObjects(all, objects, ownership, policies),
    ...(protection && { protection }),
    ...(others && { others }),
    ...(problem !== undefined && { problem }),
  };
}
