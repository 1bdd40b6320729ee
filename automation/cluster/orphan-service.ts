import { connectCloud, type CloudClient } from "../../cloud/client.js";
import type { Kind } from "../../cloud/inventory.js";
import { deleteOrphans, findMarked, irreplaceable, type Orphan } from "../../cloud/orphans.js";
import { hasData, isIdentity } from "../../cloud/ownership.js";
import type { ClusterServiceOptions } from "./options.js";
import { whichCluster } from "./orphans.js";
import { unlessStopped } from "./stop.js";

/** Which clusters: all of a name, or the one of an identity. */
export type OrphansOf = { readonly cluster: string } | { readonly identity: string };

export interface FoundOrphans {
  /** What carries their marks, as far as the cloud shows it. */
  readonly found: readonly Orphan[];
  /** Kinds that the cloud does not show: what there is of them is not known. */
  readonly hidden: readonly Kind[];
}

/** What of it goes that cannot be made again. */
export interface OrphansToo {
  /** Machines' volumes, those of claims, copies and snapshots of them, with their data. Default: false. */
  readonly volumes?: boolean;
  /** The addresses of its Services. Default: false. */
  readonly floatingIps?: boolean;
}

export interface DeleteOrphansOptions extends OrphansToo {
  readonly signal?: AbortSignal;
  /** It begins with this one. */
  readonly onDelete?: (orphan: Orphan) => void;
}

export interface OrphanServiceOptions extends Pick<ClusterServiceOptions, "env"> {
  /** A sentence for people: why a request to the cloud takes long. */
  readonly onNote?: (text: string) => void;
}

/** What is left of clusters that no state holds any more. Needs a cloud: no backend, no engine and no settings of a stack. */
export interface OrphanService {
  /** What is there. Nothing is changed. */
  find(of: OrphansOf): Promise<FoundOrphans>;
  /**
   * Deletes what was found of one cluster, but for what stays. A living cluster does not survive that: whoever calls knows that it is none.
   * Asks nobody. Throws, and deletes nothing, where it is not of one identity.
   */
  delete(
    found: readonly Orphan[],
    options?: DeleteOrphansOptions,
  ): Promise<{ readonly deleted: readonly Orphan[]; readonly kept: readonly Orphan[] }>;
}

/** What of it stays. */
export const keptOf = (
  found: readonly Orphan[],
  { volumes = false, floatingIps = false }: OrphansToo,
): Orphan[] =>
  found.filter((one) => (hasData(one) ? !volumes : irreplaceable(one) && !floatingIps));

/** Names are anybody's: only an identity says which cluster is meant. */
function requireOne(found: readonly Orphan[]): void {
  const identities = [...new Set(found.map(({ mark }) => mark.identity))];
  if (identities.length > 1 || !identities.every(isIdentity)) throw whichCluster(found);
}

export function createOrphanService({ env, onNote }: OrphanServiceOptions): OrphanService {
  let signedIn: Promise<CloudClient> | undefined;
  const patience = { onWait: (text: string): void => onNote?.(text) };
  const cloud = (): Promise<CloudClient> => (signedIn ??= connectCloud({ env, patience }));
  return {
    find: async (of) => {
      const { found, hidden } = await findMarked(await cloud());
      const isMeant = ({ mark }: Orphan): boolean =>
        "identity" in of ? mark.identity === of.identity : mark.name === of.cluster;
      return { found: found.filter(isMeant), hidden };
    },
    delete: async (found, options = {}) => {
      requireOne(found);
      const kept = keptOf(found, options);
      const deleted = found.filter((one) => !kept.includes(one));
      try {
        await deleteOrphans(await cloud(), deleted, options);
      } catch (error) {
        throw unlessStopped(error, options.signal);
      }
      return { deleted, kept };
    },
  };
}
