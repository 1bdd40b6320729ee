import { z } from "zod";
import type { CloudClient } from "./client.js";
import { CloudError } from "./cloud-error.js";
import { listAll } from "./listing.js";
import { isUuid } from "./reference.js";

const serverSchema = z.object({
  server: z.looseObject({
    id: z.string(),
    name: z.string(),
    status: z.string(),
    created: z.string().optional(),
    fault: z.looseObject({ message: z.string(), code: z.number().optional() }).optional(),
  }),
});

/** Colours, and what is left of characters that were cut in the middle. */

const noise = /\u001b\[[0-9;?]*[A-Za-z]|\uFFFD|[\u0000-\u0008\u000b-\u001f]/g;

/** How many lines of the console a message carries. */
const consoleLines = 30;

/** The last lines of a server's console, or why there are none. */
export async function consoleTail(
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

/** A server as Nova knows it at this moment. */
export interface ServerState {
  /** Undefined when Nova has forgotten the server. */
  readonly name?: string;
  /** Nova's word; `DELETED` when there is no such server any more. */
  readonly status: string;
  readonly fault?: { readonly message: string };
}

/** Asks Nova about a server, by its ID or its name. Never throws for one that is gone. */
export async function serverState(client: CloudClient, server: string): Promise<ServerState> {
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

/** States into which only a request brings a server (or its own shutdown), and the one that brings it back. */
const wakings: Readonly<Record<string, string>> = {
  SHUTOFF: "start",
  PAUSED: "unpause",
  SUSPENDED: "resume",
  RESCUE: "unrescue",
  SHELVED: "unshelve",
  SHELVED_OFFLOADED: "unshelve",
};

/** The command that makes a server run again that somebody stopped; undefined when nobody did. */
export function wakingCommand({ name, status }: ServerState): string | undefined {
  const verb = wakings[status];
  return verb === undefined ? undefined : `openstack server ${verb} ${name ?? ""}`.trimEnd();
}

const lost = new Set(["ERROR", "DELETED", "SOFT_DELETED"]);

/** Whether nothing runs on the server, and nothing will unless somebody does something about it. */
export const standsStill = ({ status }: ServerState): boolean =>
  status in wakings || lost.has(status);

/** What the cloud knows about a machine that does not answer: status, and Nova's fault or else the end of its console. */
export async function describeServer(
  client: CloudClient,
  serverId: string,
  state?: ServerState,
): Promise<string> {
  const { name, status, fault } = state ?? (await serverState(client, serverId));
  if (name === undefined) return `Server ${serverId} does not exist any more.`;
  const head = `Server ${name} (${serverId}) is ${status}`;
  if (fault) return `${head}: ${fault.message.replace(/\.$/, "")}.`;
  return `${head}.\nLast lines of its console:\n${await consoleTail(client, serverId)}`;
}
