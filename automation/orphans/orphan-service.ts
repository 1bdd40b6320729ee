import { connectCloud, type CloudClient } from "../../openstack/client/cloud-client.js";
import type { ProviderValues } from "../../openstack/auth/provider-settings.js";
import { resolveConnection } from "../../openstack/auth/resolve-connection.js";
import type { CloudObject, CloudObjectKind } from "../../openstack/inventory/inventory.js";
import {
  deleteOrphans,
  findMarkedObjects,
  type OwnedObject,
} from "../../openstack/inventory/marked-objects.js";
import { hasData } from "../../openstack/inventory/ownership.js";
import {
  describeObjects,
  findBlockingForeignPorts,
} from "../../openstack/inventory/foreign-ports.js";
import { Failure } from "../../base/failures/failure.js";
import type { ClusterServiceOptions } from "../engine/operation-options.js";
import { createAmbiguousClusterError } from "./orphan-summary.js";
import { convertAbortError } from "../../base/failures/cancellation.js";
import { redactError } from "../../base/terminal/redact-secrets.js";
import { createServiceRedactor } from "../engine/service-redactor.js";

/**
 * Clusters whose objects `find` returns: all clusters with this name, or the cluster with this
 * identity.
 */
export type OrphanSelector = { readonly cluster: string } | { readonly identity: string };

export interface FoundOrphans {
  /** Objects of the clusters that the cloud shows to this user. */
  readonly found: readonly OwnedObject[];
  /**
   * Kinds of objects that the cloud does not show to this user. Such objects are not in `found`.
   */
  readonly hidden: readonly CloudObjectKind[];
  /**
   * Ports of other owners in the clusters' networks. The cloud does not delete a network with such
   * ports.
   */
  readonly inTheWay: readonly CloudObject[];
}

/** Kinds of objects that cannot be recreated. Each kind is deleted only on request. */
export interface OrphanDataDeletion {
  /**
   * Whether to delete volumes of machines and of PersistentVolumes, and copies and snapshots of
   * these volumes, with their data. Default: false.
   */
  readonly volumes?: boolean;
  /** Whether to delete the floating IPs of the cluster's Services. Default: false. */
  readonly floatingIps?: boolean;
  /**
   * Whether to delete objects that a destroy has kept because of `retainOnDelete`. Default: false.
   */
  readonly retained?: boolean;
}

export interface DeleteOrphansOptions extends OrphanDataDeletion {
  readonly signal?: AbortSignal;
  /** Called before each deletion. */
  readonly onDelete?: (orphan: OwnedObject) => void;
}

export interface OrphanServiceOptions extends Pick<ClusterServiceOptions, "env"> {
  /**
   * Plain settings of OpenStack's provider, which override the environment. Default: none.
   */
  readonly provider?: ProviderValues;
  /** Called with sentences for the user, for example why a request to the cloud takes long. */
  readonly onNote?: (text: string) => void;
}

/**
 * Finds and deletes objects of clusters whose state is lost. Needs only a cloud: no state backend,
 * no engine, and no settings of a stack.
 */
export interface OrphanCleaner {
  /** Returns the objects of the selected clusters. Changes nothing. */
  find(of: OrphanSelector): Promise<FoundOrphans>;
  /**
   * Deletes the objects of one cluster, except objects that the options keep. Does not ask for
   * confirmation. Deletes even a running cluster, so the caller must make sure that the cluster is
   * not used. Throws without a deletion if the objects do not all have the same identity, or if
   * ports of other owners block the deletion of a network.
   */
  delete(
    there: FoundOrphans,
    options?: DeleteOrphansOptions,
  ): Promise<{ readonly deleted: readonly OwnedObject[]; readonly kept: readonly OwnedObject[] }>;
}

const isReleasedFloatingIp = ({ claim }: OwnedObject): boolean =>
  claim === "floating IP of a Service";

/** Returns the objects that the cleaner does not delete with these options. */
export const findKeptOrphans = (
  found: readonly OwnedObject[],
  { volumes = false, floatingIps = false, retained = false }: OrphanDataDeletion,
): OwnedObject[] =>
  found.filter((one) => {
    if (one.kept === true && !retained) return true;
    if (hasData(one)) return !volumes;
    return isReleasedFloatingIp(one) && !floatingIps;
  });

/**
 * Throws unless all objects have the same identity. The identities differ if several clusters have
 * the same name.
 */
function requireOne(found: readonly OwnedObject[]): void {
  const identities = new Set(found.map(({ mark }) => mark.identity));
  if (identities.size > 1) throw createAmbiguousClusterError(found);
}

/**
 * Throws if ports of other owners block the deletion of a network. Without this check, the deletion
 * would fail after minutes, with half of the objects deleted.
 */
export function requireNoBlockingPorts({ inTheWay }: FoundOrphans): void {
  if (inTheWay.length === 0) return;
  throw new Failure(
    "FAILED",
    `Cannot delete the network: it still contains ${describeObjects(inTheWay)}, which this cluster does not own. Nothing was deleted.`,
    "Delete that object or the one that uses it, then run the same command again.",
  );
}

export function createOrphanService({
  provider = {},
  onNote,
  ...options
}: OrphanServiceOptions): OrphanCleaner {
  const { env } = resolveConnection(provider, options.env);
  let signedIn: Promise<CloudClient> | undefined;
  const patience = { onWait: (text: string): void => onNote?.(text) };
  const cloud = (): Promise<CloudClient> => (signedIn ??= connectCloud({ env, patience }));
  /** Runs work whose error must not contain secrets. */
  const guarded = async <T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw redactError(convertAbortError(error, signal), createServiceRedactor(env));
    }
  };
  return {
    find: (of) =>
      guarded(async () => {
        const { found: all, objects, hidden } = await findMarkedObjects(await cloud());
        const isMeant = ({ mark }: OwnedObject): boolean =>
          "identity" in of ? mark.identity === of.identity : mark.name === of.cluster;
        const found = all.filter(isMeant);
        return { found, hidden, inTheWay: findBlockingForeignPorts(found, objects) };
      }),
    delete: (there, options = {}) =>
      guarded(async () => {
        const { found } = there;
        requireOne(found);
        requireNoBlockingPorts(there);
        const kept = findKeptOrphans(found, options);
        const deleted = found.filter((one) => !kept.includes(one));
        await deleteOrphans(await cloud(), deleted, { ...options, ...patience });
        return { deleted, kept };
      }, options.signal),
  };
}
