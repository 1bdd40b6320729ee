import { connectCloud, type CloudClient } from "../../cloud/client.js";
import type { CloudObject, Kind } from "../../cloud/inventory.js";
import { deleteOrphans, findMarked, irreplaceable, type Orphan } from "../../cloud/orphans.js";
import { hasData, isIdentity } from "../../cloud/ownership.js";
import { listed, strangersBefore } from "../../cloud/strangers.js";
import { UserError } from "../../base/user-error.js";
import type { ClusterServiceOptions } from "./options.js";
import { whichCluster } from "./orphans.js";
import { unlessStopped } from "./stop.js";

/** Clusters to search for: all with this name, or the one with this identity. */
export type OrphansOf = { readonly cluster: string } | { readonly identity: string };

export interface FoundOrphans {
  /** Objects that carry the clusters' marks, as far as the cloud shows them. */
  readonly found: readonly Orphan[];
  /** Kinds of objects that the cloud does not show to this user. */
  readonly hidden: readonly Kind[];
  /** Objects of others in the clusters' networks, which cannot be deleted before them. */
  readonly inTheWay: readonly CloudObject[];
}

/** Objects that are deleted, too, although they cannot be recreated. */
export interface OrphansToo {
  /**
   * Whether to delete volumes of machines and claims, their copies and snapshots, with their data.
   * Default: false.
   */
  readonly volumes?: boolean;
  /** Whether to delete the addresses of its Services. Default: false. */
  readonly floatingIps?: boolean;
}

export interface DeleteOrphansOptions extends OrphansToo {
  readonly signal?: AbortSignal;
  /** Called before each deletion. */
  readonly onDelete?: (orphan: Orphan) => void;
}

export interface OrphanServiceOptions extends Pick<ClusterServiceOptions, "env"> {
  /**
   * Called with sentences for the user: why a request to the cloud takes long, or what is waited
   * for.
   */
  readonly onNote?: (text: string) => void;
}

/**
 * Finds and deletes leftovers of clusters that are in no state any more. Needs only a cloud: no
 * backend, no engine, no settings of a stack.
 */
export interface OrphanService {
  /** Returns the leftovers. Changes nothing. */
  find(of: OrphansOf): Promise<FoundOrphans>;
  /**
   * Deletes the leftovers of one cluster, except what is to be kept. This destroys a running
   * cluster: the caller has to know that it does not run. Does not ask for confirmation. Throws,
   * and deletes nothing, if the objects have several identities or none, or if an object of others
   * is in the way.
   */
  delete(
    there: FoundOrphans,
    options?: DeleteOrphansOptions,
  ): Promise<{ readonly deleted: readonly Orphan[]; readonly kept: readonly Orphan[] }>;
}

/** Returns the objects that are kept. */
export const keptOf = (
  found: readonly Orphan[],
  { volumes = false, floatingIps = false }: OrphansToo,
): Orphan[] =>
  found.filter((one) => (hasData(one) ? !volumes : irreplaceable(one) && !floatingIps));

/** Throws unless all objects have the same identity. Several clusters may share a name. */
function requireOne(found: readonly Orphan[]): void {
  const identities = [...new Set(found.map(({ mark }) => mark.identity))];
  if (identities.length > 1 || !identities.every(isIdentity)) throw whichCluster(found);
}

/**
 * Throws if objects of others block a network: the deletion would fail after minutes, half done.
 */
export function requireWay({ inTheWay }: FoundOrphans): void {
  if (inTheWay.length === 0) return;
  throw new UserError(
    `Cannot delete the network: it still contains ${listed(inTheWay)}, which this cluster does not own. Nothing was deleted.`,
    "Delete that object or the one that uses it, then run the same command again.",
  );
}

export function createOrphanService({ env, onNote }: OrphanServiceOptions): OrphanService {
  let signedIn: Promise<CloudClient> | undefined;
  const patience = { onWait: (text: string): void => onNote?.(text) };
  const cloud = (): Promise<CloudClient> => (signedIn ??= connectCloud({ env, patience }));
  return {
    find: async (of) => {
      const { found: all, objects, hidden } = await findMarked(await cloud());
      const isMeant = ({ mark }: Orphan): boolean =>
        "identity" in of ? mark.identity === of.identity : mark.name === of.cluster;
      const found = all.filter(isMeant);
      return { found, hidden, inTheWay: strangersBefore(found, objects) };
    },
    delete: async (there, options = {}) => {
      const { found } = there;
      requireOne(found);
      requireWay(there);
      const kept = keptOf(found, options);
      const deleted = found.filter((one) => !kept.includes(one));
      try {
        await deleteOrphans(await cloud(), deleted, { ...options, ...patience });
      } catch (error) {
        throw unlessStopped(error, options.signal);
      }
      return { deleted, kept };
    },
  };
}
