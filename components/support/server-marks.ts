import { z } from "zod";
import type { CloudClient } from "../../cloud/client.js";
import { listAll } from "../../cloud/listing.js";
import { clusterNameKey, identityKey } from "../../cloud/ownership.js";
import type { Held } from "../../cloud/preflight.js";

/* What the marks on a cluster's servers say. Nothing of Pulumi: the command line looks at them, too. */

/** The metadata of a server that says in which generation it was made. */
export const generationMark = "stackadm-generation";

/** The metadata of a server that never answered: its own ID, so that no copy of it means another server. */
export const neverAnsweredMark = "stackadm-never-answered";

export interface ExistingServer {
  /** Empty: two of the cluster's servers have the name, and which one is the machine's is not known. */
  readonly id: string;
  /** In which generation it was made. Empty: in an unknown one. */
  readonly generation: string;
  /** Whether it is to be replaced, because no script ever came to its end on it. */
  readonly failed: boolean;
  /** Whether its power state is not ignored, because OpenStack's provider would refuse it (see power-states.ts). @default it is ignored */
  readonly powerRefused?: boolean;
}

/** The servers of a cluster that exist, by name. */
export type ExistingServers = Readonly<Record<string, ExistingServer>>;

const serverSchema = z.looseObject({
  id: z.string(),
  name: z.string(),
  status: z.string().default(""),
  metadata: z.record(z.string(), z.string()).default({}),
  addresses: z.record(z.string(), z.array(z.looseObject({ addr: z.string() }))).default({}),
});

/** As Nova lists it. */
export type ListedServer = Readonly<
  Pick<z.infer<typeof serverSchema>, "id" | "name" | "status" | "metadata">
>;

/** The servers that may be the cluster's by their name, as Nova lists them. */
export const listServers = (client: CloudClient, cluster: string) =>
  listAll(client, "compute", `/servers/detail?name=${encodeURIComponent(`^${cluster}-`)}`, {
    ...{ key: "servers", schema: serverSchema },
  });

/** A cluster, and by what its servers are told from those of another one of its name. */
export interface OwnCluster {
  /** Its name. */
  readonly cluster: string;
  /** What the state holds. Undefined where it cannot be asked: then whatever has the name counts, and at worst too much is refused. */
  readonly held: Pick<Held, "owned" | "identities"> | undefined;
}

/**
 * Those of the cluster. What the state holds is its own, and what carries an identity that the state holds, which an interrupted run may
 * have left. Another identity is another cluster's, whatever its name. One without any was made by an earlier release and may be
 * ours: the name is all that it has, and counts where nothing surer has it.
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

/** Fixed and floating addresses of the cluster's servers. */
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

/** What the marks say on those of the listed servers that are the cluster's. */
export function marksOn(servers: readonly ListedServer[], own: OwnCluster): ExistingServers {
  const found: Record<string, ExistingServer> = {};
  for (const { id, name, status, metadata } of ownOf(servers, own)) {
    const generation = metadata[generationMark] ?? "";
    const other = found[name];
    found[name] = other
      ? // Which one is the machine's is not known here, so it waits, and is left alone.
        { id: "", generation: other.generation === generation ? generation : "", failed: false }
      : // Nova takes no mark for a server in ERROR.
        { id, generation, failed: metadata[neverAnsweredMark] === id || status === "ERROR" };
  }
  return found;
}
