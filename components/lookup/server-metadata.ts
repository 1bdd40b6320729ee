import { z } from "zod";
import type { CloudClient } from "../../openstack/client/cloud-client.js";
import { listAll } from "../../openstack/client/paginate.js";
import { clusterNameKey, identityKey } from "../../openstack/inventory/ownership.js";
import type { OwnedByStack } from "../../openstack/checks/preflight-checks.js";

/*
 * Metadata with which the program marks a cluster's servers in Nova. This file uses nothing of
 * Pulumi, because the command line also reads the metadata.
 */

/** Metadata key of the generation with which a server was created. */
export const generationMetadataKey = "stackadm-generation";

/**
 * Metadata key on a server that never answered. The value is the ID of the server, so that a copy
 * of the metadata on another server has no effect.
 */
export const neverAnsweredMetadataKey = "stackadm-never-answered";

export interface ExistingServer {
  /**
   * ID of the server. Empty if two servers of the cluster have the same name: it is then unknown
   * which server is the machine's.
   */
  readonly id: string;
  /** Generation with which the server was created. Empty if unknown. */
  readonly generation: string;
  /** Whether the next run replaces the server, because no script has ever finished on it. */
  readonly failed: boolean;
  /**
   * Whether the program must not ignore changes of the server's power state, because OpenStack's
   * provider would refuse the power state (see refused-power-states.ts). @default the program
   * ignores changes
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

/** Server as Nova lists it. */
export type ListedServer = Readonly<
  Pick<z.infer<typeof serverSchema>, "id" | "name" | "status" | "metadata">
>;

/** Returns the servers whose name begins with the cluster's name, as Nova lists them. */
export const listServers = (client: CloudClient, cluster: string) =>
  listAll(client, "compute", `/servers/detail?name=${encodeURIComponent(`^${cluster}-`)}`, {
    key: "servers",
    schema: serverSchema,
  });

/**
 * Cluster name, and the contents of the state with which the cluster's servers are distinguished
 * from servers of another cluster with the same name.
 */
export interface OwnCluster {
  /** Name of the cluster. */
  readonly cluster: string;
  /**
   * IDs and identities in the state. Undefined if the state cannot be read: then every server with
   * a matching name counts, and in the worst case the program refuses too much.
   */
  readonly held: Pick<OwnedByStack, "owned" | "identities"> | undefined;
}

/**
 * Returns the servers of the cluster: servers in the state, and servers with an identity from the
 * state, which an interrupted run may have created. A server with another identity belongs to
 * another cluster. A server without identity comes from an early release, and counts only if no
 * server of the first two kinds has the same name.
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
  const [sure, carrying, unmarked] = [
    named.filter(({ id }) => held.owned.has(id)),
    named.filter((one) => held.identities.has(identityOf(one))),
    named.filter((one) => identityOf(one) === ""),
  ];
  return [carrying, unmarked].reduce((found, less) => {
    const names = new Set(found.map(({ name }) => name));
    return [...found, ...less.filter(({ name }) => !names.has(name))];
  }, sure);
}

/** Returns what the metadata say about the listed servers that belong to the cluster. */
export function existingServersOf(
  servers: readonly ListedServer[],
  own: OwnCluster,
): ExistingServers {
  const found: Record<string, ExistingServer> = {};
  for (const { id, name, status, metadata } of ownOf(servers, own)) {
    const generation = metadata[generationMetadataKey] ?? "";
    const other = found[name];
    found[name] = other
      ? // It is unknown which of both servers is the machine's, so no server is replaced.
        { id: "", generation: other.generation === generation ? generation : "", failed: false }
      : // Nova accepts no metadata for a server in ERROR.
        { id, generation, failed: metadata[neverAnsweredMetadataKey] === id || status === "ERROR" };
  }
  return found;
}
