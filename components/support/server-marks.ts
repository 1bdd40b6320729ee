import { z } from "zod";
import type { CloudClient } from "../../cloud/client.js";
import { listAll } from "../../cloud/listing.js";
import { clusterNameKey } from "../../cloud/ownership.js";

/* What the marks on a cluster's servers say. Nothing of Pulumi: the command line looks at them, too. */

/** The metadata of a server that says in which generation it was made. */
export const generationMark = "stackadm-generation";

/** The metadata of a server that never answered: its own ID, so that no copy of it means another server. */
export const neverAnsweredMark = "stackadm-never-answered";

export interface ExistingServer {
  /** Empty: two servers have the name, and which one is the machine's is not known. */
  readonly id: string;
  /** In which generation it was made. Empty: in an unknown one. */
  readonly generation: string;
  /** Whether it is to be replaced, because no script ever came to its end on it. */
  readonly failed: boolean;
}

/** The servers that exist, by name. */
export type ExistingServers = Readonly<Record<string, ExistingServer>>;

const serverSchema = z.looseObject({
  id: z.string(),
  name: z.string(),
  status: z.string().default(""),
  metadata: z.record(z.string(), z.string()).default({}),
  addresses: z.record(z.string(), z.array(z.looseObject({ addr: z.string() }))).default({}),
});

type ListedServer = Readonly<
  Pick<z.infer<typeof serverSchema>, "id" | "name" | "status" | "metadata">
>;

const serversOf = (client: CloudClient, cluster: string) =>
  listAll(client, "compute", `/servers/detail?name=${encodeURIComponent(`^${cluster}-`)}`, {
    ...{ key: "servers", schema: serverSchema },
  });

const isOf = (
  { name, metadata }: Pick<ListedServer, "name" | "metadata">,
  cluster: string,
): boolean => metadata[clusterNameKey] === cluster && name.startsWith(`${cluster}-`);

/** The servers that carry the cluster's name, and what their marks say. */
export const existingServers = async (
  client: CloudClient,
  cluster: string,
): Promise<ExistingServers> => marksOn(await serversOf(client, cluster), cluster);

/** Fixed and floating addresses of those servers. */
export async function addressesOf(
  client: CloudClient,
  cluster: string,
): Promise<ReadonlySet<string>> {
  const servers = await serversOf(client, cluster);
  const mine = servers.filter((server) => isOf(server, cluster));
  return new Set(
    mine.flatMap(({ addresses }) =>
      Object.values(addresses)
        .flat()
        .map(({ addr }) => addr),
    ),
  );
}

/** The same of servers that were listed. */
export function marksOn(servers: readonly ListedServer[], cluster: string): ExistingServers {
  // By the name: a server of a release without identities waits for its turn too, and another cluster's costs only a turn.
  const mine = servers.filter((server) => isOf(server, cluster));
  const found: Record<string, ExistingServer> = {};
  for (const { id, name, status, metadata } of mine) {
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
