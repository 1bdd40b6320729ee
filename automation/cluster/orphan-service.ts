import { connectCloud, type CloudClient } from "../../cloud/client.js";
import type { CloudObject, Kind } from "../../cloud/inventory.js";
import { deleteOrphans, findMarked, irreplaceable, type Orphan } from "../../cloud/orphans.js";
import { hasData, isIdentity } from "../../cloud/ownership.js";
import { listed, strangersBefore } from "../../cloud/strangers.js";
import { UserError } from "../../base/user-error.js";
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
  /** What somebody else has in their networks, which cannot go before it. */
  readonly inTheWay: readonly CloudObject[];
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
  /** A sentence for people: why a request to the cloud takes long, or what of the cloud is waited for. */
  readonly onNote?: (text: string) => void;
}

/** What is left of clusters that no state holds any more. Needs a cloud: no backend, no engine and no settings of a stack. */
export interface OrphanService {
  /** What is there. Nothing is changed. */
  find(of: OrphansOf): Promise<FoundOrphans>;
  /**
   * Deletes what was found of one cluster, but for what stays. A living cluster does not survive that: whoever calls knows that it is none.
   * Asks nobody. Throws, and deletes nothing, where it is not of one identity, or something of somebody else's is in the way.
   */
  delete(
    there: FoundOrphans,
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

/** Minutes of waiting would end in the same way, and with less. */
export function requireWay({ inTheWay }: FoundOrphans): void {
  if (inTheWay.length === 0) return;
  throw new UserError(
    `The network cannot go before what somebody else put into it: ${listed(inTheWay)}. Nothing was deleted.`,
    "Delete that, or what has it, then run the same command again.",
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
