import * as pulumi from "@pulumi/pulumi";
import { z } from "zod";
import type { CloudClient } from "../../cloud/client.js";
import { whoAnswers, type SshRoute } from "../../cloud/ssh.js";
import { wayIn, wayMark, wayText } from "./noted-way.js";
import type { Operator } from "./operator.js";
import { heldIn, ownState, type Recorded } from "./own-state.js";
import { isBetterNotIgnored } from "./power-states.js";
import {
  addressesOf,
  listServers,
  marksOn,
  neverAnsweredMark,
  type ExistingServers,
  type ListedServer,
  type OwnCluster,
} from "./server-marks.js";

/**
 * What Nova says of the cluster's servers, asked once in a run; the state says whose they are. Undefined where the operator's credential does not lead to the
 * project in which the program works, or Nova cannot be asked.
 */
export async function findServers(
  cluster: string,
  projectId: string,
  operator: Operator,
): Promise<ExistingServers | undefined> {
  try {
    const client = await operator.connect();
    if (client.projectId !== projectId) return undefined;
    const [listed, state] = await Promise.all([listServers(client, cluster), ownState()]);
    const own = { cluster, held: state && heldIn(state) };
    const servers = await judged(client, marksOn(listed, own), { own, state, operator });
    return withPower(servers, listed, state);
  } catch {
    return undefined;
  }
}

/** By what a marked server is judged. */
interface Judge {
  readonly own: OwnCluster;
  /** Undefined where it cannot be asked. */
  readonly state: readonly Recorded[] | undefined;
  readonly operator: Operator;
}

/**
 * Only the state knows what a server has been since it was marked. One on which a script came to its end is or was part of the
 * cluster: it is never replaced for a mark, which goes. One that this state does not hold is somebody else's affair. One that only booted
 * slowly answers by now, and its mark goes, too.
 */
async function judged(
  client: CloudClient,
  servers: ExistingServers,
  judge: Judge,
): Promise<ExistingServers> {
  if (!Object.values(servers).some(({ failed }) => failed)) return servers;
  const { state = [] } = judge;
  const verdicts = Object.entries(servers).map(async ([name, server]) => {
    const kind = server.failed ? historyOf(server.id, state) : "new";
    const answers = server.failed && kind === "new" && (await answersNow(client, server.id, judge));
    if (answers)
      await pulumi.log.info(`The machine ${name} answers on SSH by now, so it is not replaced.`);
    if (kind === "part of the cluster" || answers) await unmark(client, server.id);
    return [name, { ...server, failed: server.failed && kind === "new" && !answers }] as const;
  });
  return Object.fromEntries(await Promise.all(verdicts));
}

/** Milliseconds in which a marked server has to answer. All are asked at once. */
const patience = 8_000;

const markedSchema = z.object({
  server: z.looseObject({ status: z.string(), metadata: z.record(z.string(), z.string()) }),
});

/**
 * Whether somebody logs in by now, the way that was tried in vain. Of one in ERROR nobody asks that: Nova has given it up. More people may
 * write metadata than may have the operator's agent sign for them: the way leads to servers of the cluster only.
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
    const way = wayIn(server.metadata[wayMark] ?? "");
    if (!way || server.status === "ERROR") return false;
    const known = await addressesOf(client, own);
    if (![way, ...(way.proxy ? [way.proxy] : [])].every(({ host }) => known.has(host)))
      return false;
    return (await whoAnswers(way, { agentSocket, within: patience })) === "itself";
  } catch {
    return false;
  }
}

type History = "not ours" | "part of the cluster" | "new";

/** What the state says of a server: scripts of a machine are named after it, and were given their server's ID. */
export function historyOf(serverId: string, state: readonly Recorded[]): History {
  const server = recordOf(serverId, state);
  if (!server) return "not ours";
  const machine = server.name.replace(/server$/, "");
  const worked = state.some(({ name, type, outputs }) => {
    if (type !== "command:remote:Command" || !name.startsWith(machine)) return false;
    // A log-in leaves nothing on a machine.
    if (name === `${machine}login`) return false;
    const ranOn = serverOfScript(outputs["stdin"]);
    // It is a secret. One that cannot be read may name this server, and nothing is replaced on a guess.
    return ranOn === undefined || ranOn === serverId;
  });
  return worked ? "part of the cluster" : "new";
}

const recordOf = (id: string, state: readonly Recorded[]): Recorded | undefined =>
  state.find(
    ({ type, outputs }) => type === "openstack:compute/instance:Instance" && outputs["id"] === id,
  );

/** Says of which servers the power state is not ignored. Pure. */
function withPower(
  servers: ExistingServers,
  listed: readonly ListedServer[],
  state: readonly Recorded[] = [],
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

/** The server on which a script ran, in what it was given. */
export const serverOfScript = (stdin: unknown): string | undefined =>
  typeof stdin === "string" ? /^SERVER_ID='([^']+)'$/m.exec(stdin)?.[1] : undefined;

/** Says on the server itself, to whoever runs the program next, that it never answered, and on which way. */
export const markNeverAnswered = async (
  client: CloudClient,
  serverId: string,
  way?: SshRoute,
): Promise<void> => {
  const noted = way && wayText(way);
  const metadata = {
    [neverAnsweredMark]: serverId,
    ...(noted !== undefined && { [wayMark]: noted }),
  };
  await client.request("compute", "POST", `/servers/${serverId}/metadata`, { metadata });
};

/** It answers after all. A mark that stays harms nobody: the state is asked again. */
async function unmark(client: CloudClient, serverId: string): Promise<void> {
  if (pulumi.runtime.isDryRun()) return;
  for (const mark of [neverAnsweredMark, wayMark])
    await client
      .request("compute", "DELETE", `/servers/${serverId}/metadata/${mark}`)
      .catch(() => undefined);
}
