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
 * Returns the cluster's servers as Nova lists them; called once per run. The state decides which of
 * them are the cluster's. Returns undefined if the operator's credential is for another project, or
 * Nova cannot be asked.
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

/** Sources by which a marked server is judged. */
interface Judge {
  readonly own: OwnCluster;
  /** Resources in the stack's state. Undefined if it cannot be read. */
  readonly state: readonly RecordedResource[] | undefined;
  readonly operator: LocalContext;
}

/**
 * Decides which servers marked as never answered are replaced. Only the state knows what happened
 * since. If a script has finished on the server, it is part of the cluster: it is kept and its mark
 * removed. A server that is not in this state is left alone. A server that answers by now only
 * booted slowly: its mark is removed, too.
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

/** Milliseconds in which a marked server has to answer. All are tried at the same time. */
const patience = 8_000;

const markedSchema = z.object({
  server: z.looseObject({ status: z.string(), metadata: z.record(z.string(), z.string()) }),
});

/**
 * Returns whether SSH login to the server now works on the route that failed before. A server in
 * ERROR is not tried, because Nova has given it up. Routes to addresses outside the cluster are
 * ignored: others may write the metadata, but must not choose where the operator's agent signs.
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
 * Returns what the state knows of a server. Scripts of a machine are named after it, and name
 * the server.
 */
export function serverHistoryOf(serverId: string, state: readonly RecordedResource[]): History {
  const server = recordOf(serverId, state);
  if (!server) return "not ours";
  const machine = server.name.replace(/server$/, "");
  const worked = state.some(({ name, type, outputs }) => {
    if (type !== scriptType || !name.startsWith(machine)) return false;
    // A login leaves nothing on the machine.
    if (name === `${machine}login`) return false;
    const ranOn = serverOfScript(outputs);
    // A script of an earlier release has the ID in a secret. One that cannot be read may name this
    // server, so the server is not replaced on a guess.
    return ranOn === undefined || ranOn === serverId;
  });
  return worked ? "part of the cluster" : "new";
}

const recordOf = (id: string, state: readonly RecordedResource[]): RecordedResource | undefined =>
  state.find(
    ({ type, outputs }) => type === "openstack:compute/instance:Instance" && outputs["id"] === id,
  );

/** Sets `powerRefused` for servers whose power state must not be ignored. */
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
 * Marks a server in its metadata as never answered, with the SSH route that was tried, for the next
 * run of any user.
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
 * Removes the marks of a server that answers. A mark that cannot be removed does no harm: the state
 * is checked again.
 */
async function unmark(client: CloudClient, serverId: string): Promise<void> {
  if (pulumi.runtime.isDryRun()) return;
  for (const mark of [neverAnsweredMetadataKey, routeMetadataKey])
    await client
      .request("compute", "DELETE", `/servers/${serverId}/metadata/${mark}`)
      .catch(() => undefined);
}
