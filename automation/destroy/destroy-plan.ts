import { listVisibleObjects, type CloudObject } from "../../openstack/inventory/inventory.js";
import { irreplaceable, type Orphan } from "../../openstack/inventory/marked-objects.js";
import { ownershipOf } from "../../openstack/inventory/ownership.js";
import { withoutPassword } from "../../base/url-passwords.js";
import { settingsOf } from "../guards/other-backend.js";
import {
  readRetentionPolicies,
  floatingIpOf,
  type RetentionPolicies,
} from "./retention-policies.js";
import { isSpared } from "../repair/object-attribution.js";
import type {
  ClaimedVolume,
  DestroyPlan,
  DestroyPlanOptions,
  KeptObject,
  VolumeSnapshot,
} from "../engine/operation-options.js";
import { othersCredentials } from "../guards/foreign-credentials.js";
import { requireClusterStack } from "../guards/cluster-stack.js";
import { requireSameLocation } from "../guards/cloud-location.js";
import { protectionOf } from "../guards/destroy-protection.js";
import type { Run } from "../engine/operation-context.js";
import { componentsOf, heldBy, holdsNothing, readState } from "../pulumi/stack-state.js";
import { placeIn } from "../guards/cluster-identity.js";

/** Returns the objects that carry one of the identities, each with its cluster. */
const markedIn = (
  inventory: readonly CloudObject[],
  identities: ReadonlySet<string>,
): readonly Orphan[] =>
  inventory.flatMap((object): Orphan[] => {
    const ownership = ownershipOf(object);
    return ownership && identities.has(ownership.mark.identity)
      ? [{ ...object, ...ownership }]
      : [];
  });

/**
 * Returns the names of the clusters. A cluster's name comes from the tags or metadata of its
 * objects, or else from its Pulumi component.
 */
const namesOf = (
  components: ReadonlyMap<string, string>,
  marked: readonly Orphan[],
): readonly string[] => {
  const inCloud = new Map(marked.map(({ mark }) => [mark.identity, mark.name]));
  return [...new Set([...components].map(([id, component]) => inCloud.get(id) ?? component))];
};

/**
 * Sorts the stack's objects into those that a destroy deletes (`goes`) and keeps (`stays`). Lists
 * volumes, floating IPs and snapshots of the clusters' controllers separately, each with its fate.
 */
function sorted(
  inventory: readonly CloudObject[],
  marked: readonly Orphan[],
  held: ReturnType<typeof heldBy>,
  fates: RetentionPolicies,
): Pick<DestroyPlan, "goes" | "volumes" | "floatingIps" | "snapshots" | "stays"> {
  const kept = new Set(marked.filter(irreplaceable).map(({ id }) => id));
  const otherwise = { claim: "", fate: fates.otherwise };
  const volumes = inventory.flatMap(({ kind, id, name, gigabytes }): ClaimedVolume[] => {
    const known = fates.claims.get(id) ?? (kept.has(id) ? otherwise : undefined);
    return kind === "volume" && known ? [{ id, name, gigabytes, ...known }] : [];
  });
  const floatingIps = inventory
    .filter(({ kind, id }) => kind === "floating IP" && kept.has(id))
    .map((object) => floatingIpOf(object, fates));
  const known = new Set(fates.snapshots.map(({ id }) => id));
  const others = inventory
    .filter(({ kind, id }) => kind === "volume snapshot" && kept.has(id) && !known.has(id))
    .map(({ id }): VolumeSnapshot => ({ id, snapshot: "", volume: "", fate: fates.otherwise }));
  const snapshots = [...fates.snapshots, ...others];
  const apart = new Set([...volumes, ...floatingIps, ...snapshots].map(({ id }) => id));
  const mine = new Set([...held.owned, ...held.retained, ...marked.map(({ id }) => id)]);
  const rest = inventory.filter(({ id }) => mine.has(id) && !apart.has(id));
  const goes = rest.filter((one) => !isSpared(one, held));
  const stays = rest
    .filter((one) => isSpared(one, held))
    .map((one): KeptObject => (held.retained.has(one.id) ? { ...one, retained: true } : one));
  return { goes, volumes, floatingIps, snapshots, ...(stays.length > 0 && { stays }) };
}

/** Returns which objects a destroy of the stack would delete and which objects it would keep. */
export async function planDestroy(
  run: Run,
  { abandon = false }: DestroyPlanOptions,
): Promise<DestroyPlan> {
  const [settings, [state, fates], place, { objects: inventory, hidden }] = await Promise.all([
    settingsOf(run),
    readState(run.access).then(async (state) => {
      requireClusterStack({ run, state });
      await requireSameLocation({ run, state });
      return [state, state && (await readRetentionPolicies(run, state, abandon))] as const;
    }),
    run.cloud().then(placeIn),
    run.cloud().then(listVisibleObjects),
  ]);
  const where = {
    place,
    backend: withoutPassword(run.service.backend),
    ...(hidden.length > 0 && { hidden }),
  };
  if (!state || !fates || holdsNothing(state)) {
    const nothing = { goes: [], volumes: [], floatingIps: [], snapshots: [] };
    const whose = { cluster: settings.name, clusters: [settings.name], identities: [] };
    return { ...whose, ...where, held: false, ...nothing };
  }
  const components = componentsOf(state);
  const marked = markedIn(inventory, new Set(components.keys()));
  const names = namesOf(components, marked);
  const [cluster = settings.name, ...others] = names;
  const protection = protectionOf(run, settings, state);
  const anothers = await othersCredentials(run, state);
  const { problem } = fates;
  return {
    ...{ cluster, clusters: [cluster, ...others], identities: [...components.keys()] },
    ...{ ...where, held: true },
    ...sorted(inventory, marked, heldBy(state), fates),
    ...(protection && { protection }),
    ...(anothers.length > 0 && { others: anothers }),
    ...(problem !== undefined && { problem }),
  };
}
