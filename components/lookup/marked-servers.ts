import * as pulumi from "@pulumi/pulumi";
import { z } from "zod";
import type { CloudClient } from "../../openstack/client/cloud-client.js";
import { probeLogin, type SshRoute } from "../../base/ssh-client.js";
import { parseRoute, routeMetadataKey, routeText } from "./ssh-route-metadata.js";
import type { LocalContext } from "./local-context.js";
import {
  ownedIdsAndIdentities,
  ownState,
  type RecordedResource,
} from "../pulumi/recorded-resources.js";
import { scriptType } from "../remote-scripts/script-type.js";
import { serverOfScript } from "../remote-scripts/script-steps.js";
import { isBetterNotIgnored } from "./refused-power-states.js";
import {
  addressesOf,
  listServers,
  existingServersOf,
  neverAnsweredMetadataKey,
  type ExistingServers,
  type ListedServer,
  type OwnCluster,
} from "./server-metadata.js";

/**
 * Returns the cluster's servers in Nova. Called once per run. The state determines which of the
 * listed servers belong to the cluster. Returns undefined if Nova does not answer, or if the
 * operator's credential is for another project.
 */
export async function findServers(
  cluster: string,
  projectId: string,
  operator: LocalContext,
): Promise<ExistingServers | undefined> {
  try {
    const client = await operator.connect();
    if (client.projectId !== projectId) return undefined;
    const [listed, state] = await Promise.all([listServers(client, cluster), ownState()]);
    const own = { cluster, held: state && ownedIdsAndIdentities(state) };
    const servers = await judged(client, existingServersOf(listed, own), { own, state, operator });
    return withPower(servers, listed, state);
  } catch {
    return undefined;
  }
}

/** Information for the decision whether a marked server is replaced. */
interface Judge {
  readonly own: OwnCluster;
  /** Resources in the stack's state. Undefined: the state cannot be read. */
  readonly state: readonly RecordedResource[] | undefined;
  readonly operator: LocalContext;
}

/**
 * Decides which servers with the mark "never answered" are replaced. Only the state tells what
 * happened after a server was marked. If a script has finished on the server, the server is part of
 * the cluster. It is kept, and its mark is removed. If the server answers now, it only booted
 * slowly. It is also kept without a mark. A server that is not in the state is not changed.
 */
async function judged(
  client: CloudClient,
  servers: ExistingServers,
  judge: Judge,
): Promise<ExistingServers> {
  if (!Object.values(servers).some(({ failed }) => failed)) return servers;
  const { state = [] } = judge;
  const verdicts = Object.entries(servers).map(async ([name, server]) => {
    const kind = server.failed ? serverHistoryOf(server.id, state) : "new";
    const answers = server.failed && kind === "new" && (await answersNow(client, server.id, judge));
    if (answers)
      await pulumi.log.info(`The machine ${name} answers on SSH by now, so it is not replaced.`);
    if (kind === "part of the cluster" || answers) await unmark(client, server.id);
    return [name, { ...server, failed: server.failed && kind === "new" && !answers }] as const;
  });
  return Object.fromEntries(await Promise.all(verdicts));
}

/**
 * Time limit in milliseconds for the answer of a marked server. All marked servers are tried at the
 * same time.
 */
const patience = 8_000;

const markedSchema = z.object({
  server: z.looseObject({ status: z.string(), metadata: z.record(z.string(), z.string()) }),
});

/**
 * Returns whether SSH login to the server works now. Uses the route that failed when the server was
 * marked. A server with status ERROR is not tried, because Nova has given it up. Other users can
 * write the route into the metadata, so a route to an address outside the cluster is ignored.
 * Otherwise they could choose the hosts for which the operator's ssh-agent signs.
 */
async function answersNow(
  client: CloudClient,
  serverId: string,
  { own, operator: { agentSocket } }: Judge,
): Promise<boolean> {
  if (agentSocket === undefined) return false;
  try {
    const { server } = markedSchema.parse(
      await client.request("compute", "GET", `/servers/${serverId}`),
    );
    const way = parseRoute(server.metadata[routeMetadataKey] ?? "");
    if (!way || server.status === "ERROR") return false;
    const known = await addressesOf(client, own);
    if (![way, ...(way.proxy ? [way.proxy] : [])].every(({ host }) => known.has(host)))
      return false;
    return (await probeLogin(way, { agentSocket, within: patience })) === "itself";
  } catch {
    return false;
  }
}

type History = "not ours" | "part of the cluster" | "new";

/**
 * Returns what the state knows about a server. The name of a script resource begins with the name
 * of its machine, and the resource contains the ID of its server.
 */
export function serverHistoryOf(serverId: string, state: readonly RecordedResource[]): History {
  const server = recordOf(serverId, state);
  if (!server) return "not ours";
  const machine = server.name.replace(/server$/, "");
  const worked = state.some(({ name, type, outputs }) => {
    if (type !== scriptType || !name.startsWith(machine)) return false;
    // The script `login` leaves nothing on the machine.
    if (name === `${machine}login`) return false;
    const ranOn = serverOfScript(outputs);
    // A script of an earlier release has the server's ID in a secret. If the secret cannot be read,
    // the script may have run on this server. The server is then kept.
    return ranOn === undefined || ranOn === serverId;
  });
  return worked ? "part of the cluster" : "new";
}

const recordOf = (id: string, state: readonly RecordedResource[]): RecordedResource | undefined =>
  state.find(
    ({ type, outputs }) => type === "openstack:compute/instance:Instance" && outputs["id"] === id,
  );

/** Sets `powerRefused` for each server that must not have `powerState` in `ignoreChanges`. */
function withPower(
  servers: ExistingServers,
  listed: readonly ListedServer[],
  state: readonly RecordedResource[] = [],
): ExistingServers {
  const refused = new Set(
    listed.flatMap(({ id, status }) => {
      const recorded = recordOf(id, state)?.outputs["powerState"];
      return typeof recorded === "string" && isBetterNotIgnored(recorded, status) ? [id] : [];
    }),
  );
  return Object.fromEntries(
    Object.entries(servers).map(([name, server]) => [
      name,
      refused.has(server.id) ? { ...server, powerRefused: true } : server,
    ]),
  );
}

/**
 * Marks a server in its metadata as never answered. Also writes the SSH route that failed. The next
 * run of any user can read both.
 */
export const markNeverAnswered = async (
  client: CloudClient,
  serverId: string,
  way?: SshRoute,
): Promise<void> => {
  const noted = way && routeText(way);
  const metadata = {
    [neverAnsweredMetadataKey]: serverId,
    ...(noted !== undefined && { [routeMetadataKey]: noted }),
  };
  await client.request("compute", "POST", `/servers/${serverId}/metadata`, { metadata });
};

/**
 * Removes the marks of a server that works. Ignores errors: a remaining mark does no harm, because
 * the next run also checks the state.
 */
async function unmark(client: CloudClient, serverId: string): Promise<void> {
  if (pulumi.runtime.isDryRun()) return;
  for (const mark of [neverAnsweredMetadataKey, routeMetadataKey])
    await client
      .request("compute", "DELETE", `/servers/${serverId}/metadata/${mark}`)
      .catch(() => undefined);
}
