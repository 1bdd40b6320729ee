import { z } from "zod";
import type { CloudClient } from "../client/cloud-client.js";
import { CloudError } from "../http/cloud-error.js";
import { listAll } from "../client/paginate.js";
import { isUuid } from "../client/name-or-id.js";

const serverSchema = z.object({
  server: z.looseObject({
    id: z.string(),
    name: z.string(),
    status: z.string(),
    created: z.string().optional(),
    fault: z.looseObject({ message: z.string(), code: z.number().optional() }).optional(),
  }),
});

/**
 * Pattern of colour codes, control characters and replacement characters (U+FFFD). A replacement
 * character appears where a UTF-8 character was cut.
 */

const noise = /\u001b\[[0-9;?]*[A-Za-z]|\uFFFD|[\u0000-\u0008\u000b-\u001f]/g;

/** Number of console lines in a message. */
const consoleLines = 30;

/** Returns the last lines of a server's console, or the reason why no lines are available. */
export async function readConsoleTail(
  client: CloudClient,
  serverId: string,
  lines = consoleLines,
): Promise<string> {
  try {
    const answer = await client.request("compute", "POST", `/servers/${serverId}/action`, {
      "os-getConsoleOutput": { length: lines },
    });
    const { output } = z.object({ output: z.string().nullable() }).parse(answer);
    const text = (output ?? "")
      .replaceAll(noise, "")
      .trimEnd()
      .split("\n")
      .slice(-lines)
      .join("\n");
    return text === "" ? "(the console is empty)" : text;
  } catch (error) {
    if (error instanceof CloudError) return `(no console: ${error.message})`;
    throw error;
  }
}

export interface ServerState {
  /** Name of the server. Undefined: no server has the requested ID. */
  readonly name?: string;
  /** Status in Nova. `DELETED` if the server does not exist. */
  readonly status: string;
  readonly fault?: { readonly message: string };
}

/**
 * Returns the state of a server with this ID or name. Does not throw if the server does not exist.
 */
export async function readServerState(client: CloudClient, server: string): Promise<ServerState> {
  try {
    if (!isUuid(server)) return await serverNamed(client, server);
    const answer = await client.request("compute", "GET", `/servers/${server}`);
    return serverSchema.parse(answer).server;
  } catch (error) {
    if (error instanceof CloudError && error.kind === "not-found") return { status: "DELETED" };
    throw error;
  }
}

async function serverNamed(client: CloudClient, name: string): Promise<ServerState> {
  const path = `/servers/detail?name=${encodeURIComponent(`^${name}$`)}`;
  const [first, second] = await listAll(client, "compute", path, {
    key: "servers",
    schema: serverSchema.shape.server,
  });
  if (second) throw new CloudError("conflict", `Several servers are called ${name}.`);
  return first ?? { name, status: "DELETED" };
}

/**
 * Verb of `openstack server` that makes a server run again, for each status in which a server does
 * not run.
 */
const wakings: Readonly<Record<string, string>> = {
  SHUTOFF: "start",
  PAUSED: "unpause",
  SUSPENDED: "resume",
  RESCUE: "unrescue",
  SHELVED: "unshelve",
  SHELVED_OFFLOADED: "unshelve",
};

/**
 * Returns the command that makes a stopped server run again. Returns undefined for other servers.
 */
export function getWakeServerCommand({ name, status }: ServerState): string | undefined {
  const verb = wakings[status];
  return verb === undefined ? undefined : `openstack server ${verb} ${name ?? ""}`.trimEnd();
}

const lost = new Set(["ERROR", "DELETED", "SOFT_DELETED"]);

/** Returns whether the server does not run, and will not run until a user or the operator acts. */
export const isInterventionNeeded = ({ status }: ServerState): boolean =>
  status in wakings || lost.has(status);

/**
 * Describes a server that does not answer: its status, and either Nova's fault message or the last
 * lines of the console.
 */
export async function describeServer(
  client: CloudClient,
  serverId: string,
  state?: ServerState,
): Promise<string> {
  const { name, status, fault } = state ?? (await readServerState(client, serverId));
  if (name === undefined) return `Server ${serverId} no longer exists.`;
  const head = `Server ${name} (${serverId}) is ${status}`;
  if (fault) return `${head}: ${fault.message.replace(/\.$/, "")}.`;
  return `${head}.\nLast lines of its console:\n${await readConsoleTail(client, serverId)}`;
}
