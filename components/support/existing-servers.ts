import * as pulumi from "@pulumi/pulumi";
import type { CloudClient } from "../../cloud/client.js";
import type { Operator } from "./operator.js";
import { ownState, type Recorded } from "./own-state.js";
import { existingServers, neverAnsweredMark, type ExistingServers } from "./server-marks.js";

/**
 * What Nova says of the cluster's servers, asked once in a run. Undefined where the operator's credential does not lead to the
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
    return await judged(client, await existingServers(client, cluster));
  } catch {
    return undefined;
  }
}

/**
 * Only the state knows what a server has been since it was marked. One on which a script came to its end is or was part of the
 * cluster: it is never replaced for a mark, which goes. One that this state does not hold is somebody else's affair.
 */
async function judged(client: CloudClient, servers: ExistingServers): Promise<ExistingServers> {
  if (!Object.values(servers).some(({ failed }) => failed)) return servers;
  const state = (await ownState()) ?? [];
  const verdicts = Object.entries(servers).map(async ([name, server]) => {
    const kind = server.failed ? historyOf(server.id, state) : "new";
    if (kind === "part of the cluster") await unmark(client, server.id);
    return [name, { ...server, failed: server.failed && kind === "new" }] as const;
  });
  return Object.fromEntries(await Promise.all(verdicts));
}

type History = "not ours" | "part of the cluster" | "new";

/** What the state says of a server: scripts of a machine are named after it, and were given their server's ID. */
export function historyOf(serverId: string, state: readonly Recorded[]): History {
  const server = state.find(({ type, outputs }) => isServer(type) && outputs["id"] === serverId);
  if (!server) return "not ours";
  const machine = server.name.replace(/server$/, "");
  const worked = state.some(({ name, type, outputs }) => {
    if (type !== "command:remote:Command" || !name.startsWith(machine)) return false;
    const ranOn = serverOfScript(outputs["stdin"]);
    // It is a secret. One that cannot be read may name this server, and nothing is replaced on a guess.
    return ranOn === undefined || ranOn === serverId;
  });
  return worked ? "part of the cluster" : "new";
}

const isServer = (type: string): boolean => type === "openstack:compute/instance:Instance";

/** The server on which a script ran, in what it was given. */
export const serverOfScript = (stdin: unknown): string | undefined =>
  typeof stdin === "string" ? /^SERVER_ID='([^']+)'$/m.exec(stdin)?.[1] : undefined;

/** Says on the server itself, to whoever runs the program next, that it never answered. */
export const markNeverAnswered = async (client: CloudClient, serverId: string): Promise<void> => {
  const metadata = { [neverAnsweredMark]: serverId };
  await client.request("compute", "POST", `/servers/${serverId}/metadata`, { metadata });
};

/** It answers after all. A mark that stays harms nobody: the state is asked again. */
async function unmark(client: CloudClient, serverId: string): Promise<void> {
  if (pulumi.runtime.isDryRun()) return;
  const path = `/servers/${serverId}/metadata/${neverAnsweredMark}`;
  await client.request("compute", "DELETE", path).catch(() => undefined);
}
