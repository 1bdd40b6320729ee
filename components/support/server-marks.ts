import { z } from "zod";
import type { CloudClient } from "../../cloud/client.js";
import { listAll } from "../../cloud/listing.js";
import { clusterNameKey, identityKey } from "../../cloud/ownership.js";
import type { Held } from "../../cloud/preflight.js";

/*
 * Marks in the metadata of a cluster's servers. This file uses nothing of Pulumi, because the
 * command line reads the marks, too.
 */

/** Metadata key of the generation in which a server was created. */
export const generationMark = "stackadm-generation";

/**
 * Metadata key of a server that never answered. Its value is the server's own ID, so that a copy of
 * it on another server has no effect.
 */
export const neverAnsweredMark = "stackadm-never-answered";

export interface ExistingServer {
  /**
   * ID of the server. Empty if two of the cluster's servers have the name, so that the machine's
   * own is unknown.
   */
  readonly id: string;
  /** Generation in which the server was created. Empty if unknown. */
  readonly generation: string;
  /** Whether the server is to be replaced, because no script ever finished on it. */
  readonly failed: boolean;
  /**
   * Whether changes of its power state must not be ignored, because OpenStack's provider would
   * refuse it (see power-states.ts). @default they are ignored
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
  addresses: z.record(z.string(), z.array(z.looseObject({ addr: z.string() }))).default({}),
});

/** Server as Nova lists it. */
export type ListedServer = Readonly<
  Pick<z.infer<typeof serverSchema>, "id" | "name" | "status" | "metadata">
>;

/** Returns the servers whose name begins with the cluster's name, as Nova lists them. */
export const listServers = (client: CloudClient, cluster: string) =>
  listAll(client, "compute", `/servers/detail?name=${encodeURIComponent(`^${cluster}-`)}`, {
    ...{ key: "servers", schema: serverSchema },
  });

/** Cluster, and what distinguishes its servers from those of another cluster with the same name. */
export interface OwnCluster {
  /** Name of the cluster. */
  readonly cluster: string;
  /**
   * Contents of the state. Undefined if it cannot be read: then every server with a matching name
   * counts, and at worst too much is refused.
   */
  readonly held: Pick<Held, "owned" | "identities"> | undefined;
}

/**
 * Returns the servers of the cluster: those in the state, and those that carry an identity from the
 * state, which an interrupted run may have left. Servers with another identity belong to another
 * cluster. Servers without identity come from an earlier release; they count only if none of the
 * first two kinds has their name.
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

/** Returns the fixed and floating addresses of the cluster's servers. */
export async function addressesOf(
  client: CloudClient,
  own: OwnCluster,
): Promise<ReadonlySet<string>> {
  const servers = await listServers(client, own.cluster);
  return new Set(
    ownOf(servers, own).flatMap(({ addresses }) =>
      Object.values(addresses)
        .flat()
        .map(({ addr }) => addr),
    ),
  );
}

/** Returns the marks of the listed servers that belong to the cluster. */
export function marksOn(servers: readonly ListedServer[], own: OwnCluster): ExistingServers {
  const found: Record<string, ExistingServer> = {};
  for (const { id, name, status, metadata } of ownOf(servers, own)) {
    const generation = metadata[generationMark] ?? "";
    const other = found[name];
    found[name] = other
      ? // It is unknown which of the two is the machine's, so neither is replaced.
        { id: "", generation: other.generation === generation ? generation : "", failed: false }
      : // Nova accepts no metadata for a server in ERROR.
        { id, generation, failed: metadata[neverAnsweredMark] === id || status === "ERROR" };
  }
  return found;
}
