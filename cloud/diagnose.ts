import { z } from "zod";
import type { CloudClient } from "./client.js";
import { CloudError } from "./cloud-error.js";

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

/**
 * What the cloud knows about a machine that does not answer: status, and Nova's fault or else the end of its console.
 * Never throws for a server that is gone: the text says so.
 */
export async function describeServer(client: CloudClient, serverId: string): Promise<string> {
  let server: z.infer<typeof serverSchema>["server"];
  try {
    server = serverSchema.parse(
      await client.request("compute", "GET", `/servers/${serverId}`),
    ).server;
  } catch (error) {
    if (error instanceof CloudError && error.kind === "not-found")
      return `Server ${serverId} does not exist any more.`;
    throw error;
  }
  const head = `Server ${server.name} (${server.id}) is ${server.status}`;
  if (server.fault) return `${head}: ${server.fault.message.replace(/\.$/, "")}.`;
  const tail = await consoleTail(client, serverId);
  return `${head}.\nLast lines of its console:\n${tail}`;
}
