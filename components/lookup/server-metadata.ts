import { z } from "zod";
import type { CloudClient } from "../../openstack/client/cloud-client.js";
import { listAll } from "../../openstack/client/paginate.js";
import {
  clusterNameKey,
  generationMetadataKey,
  identityKey,
} from "../../openstack/inventory/ownership.js";
import type { StackOwnedObjects } from "../../openstack/checks/preflight-checks.js";

/* Metadata with which the program marks a cluster's servers in Nova. */

/**
 * Metadata key on a server that never answered. The value is the ID of the server. If the metadata
 * are copied to another server, the ID differs, and the mark has no effect.
 */
export const neverAnsweredMetadataKey = "stackadm-never-answered";

export interface ExistingServer {
  /**
   * ID of the server. Empty if two servers of the cluster have the same name, because then the
   * machine's server is unknown.
   */
  readonly id: string;
  /** Generation for which the server was created. Empty: the generation is unknown. */
  readonly generation: string;
  /** Whether the next run replaces the server, because no script has ever finished on it. */
  readonly failed: boolean;
  /**
   * Whether the server must not have `powerState` in `ignoreChanges`, because OpenStack's provider
   * would refuse the recorded power state (see power-states-refused-by-provider.ts).
   * @default false
   */
  readonly powerRefused?: boolean;
}

/** Existing servers of a cluster, by name. */
export type ExistingServers = Readonly<Record<string, ExistingServer>>;

const serverSchema = z.looseObject({
  id: z.string(),
  name: z.string(),
  status: z.string().default(""),
  metadata: z.record(z.string(), z.string()).default({}),
});

/** Server in a list of Nova. */
export type ListedServer = Readonly<
  Pick<z.infer<typeof serverSchema>, "id" | "name" | "status" | "metadata">
>;

/** Lists the servers in Nova whose name begins with the cluster's name. */
export const listServers = (client: CloudClient, cluster: string) =>
  listAll(client, "compute", `/servers/detail?name=${encodeURIComponent(`^${cluster}-`)}`, {
    key: "servers",
    schema: serverSchema,
  });

/**
 * Cluster name and contents of the stack's state, which distinguish the cluster's servers from
 * servers of another cluster with the same name.
 */
export interface OwnCluster {
  /** Name of the cluster. */
  readonly cluster: string;
  /**
   * IDs and identities in the state. Undefined: the state cannot be read. All servers with a
   * matching name then count as the cluster's servers. The program may therefore refuse changes
   * because of a server of another cluster.
   */
  readonly held: Pick<StackOwnedObjects, "owned" | "identities"> | undefined;
}

/**
 * Returns the servers of the cluster: servers in the state, and servers with an identity from the
 * state, which an interrupted run may have created. Skips the latter if a server in the state has
 * the same name. If the state cannot be read, returns all servers with a matching name.
 */
function ownOf<Server extends ListedServer>(
  servers: readonly Server[],
  { cluster, held }: OwnCluster,
): Server[] {
  const named = servers.filter(
    ({ name, metadata }) => metadata[clusterNameKey] === cluster && name.startsWith(`${cluster}-`),
  );
  if (!held) return named;
  const identityOf = ({ metadata }: Server): string => metadata[identityKey] ?? "";
  const recorded = named.filter(({ id }) => held.owned.has(id));
  const names = new Set(recorded.map(({ name }) => name));
  const unrecorded = named.filter(
    (one) => held.identities.has(identityOf(one)) && !names.has(one.name),
  );
  return [...recorded, ...unrecorded];
}

/** Returns those listed servers that belong to the cluster, with the facts in their metadata. */
export function selectClusterServers(
  servers: readonly ListedServer[],
  own: OwnCluster,
): ExistingServers {
  const found: Record<string, ExistingServer> = {};
  for (const { id, name, status, metadata } of ownOf(servers, own)) {
    const generation = metadata[generationMetadataKey] ?? "";
    const other = found[name];
    found[name] = other
      ? // The machine's server is unknown if two servers have its name, so neither server is replaced.
        { id: "", generation: other.generation === generation ? generation : "", failed: false }
      : // Nova accepts no metadata for a server with status ERROR, so the status replaces the mark.
        { id, generation, failed: metadata[neverAnsweredMetadataKey] === id || status === "ERROR" };
  }
  return found;
}

/** Returns whether the run keeps the machine's server: it neither creates nor replaces it. */
export function isServerKept(
  { name, generation }: { readonly name: string; readonly generation: number },
  servers: ExistingServers,
): boolean {
  const server = servers[name];
  if (!server || server.failed) return false;
  return server.generation === "" || server.generation === String(generation);
}
