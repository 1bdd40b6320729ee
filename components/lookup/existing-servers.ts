import * as pulumi from "@pulumi/pulumi";
import type { CloudClient } from "../../openstack/client/cloud-client.js";
import { Failure } from "../../base/failures/failure.js";
import type { LocalContext } from "./local-context.js";
import {
  collectStackOwnedObjects,
  readStateBeforeRun,
  type RecordedResource,
} from "../pulumi/recorded-resources.js";
import { scriptType } from "../remote-scripts/script-type.js";
import { findScriptServerId } from "../remote-scripts/script-steps.js";
import { isIgnoredPowerStateRefused } from "./power-states-refused-by-provider.js";
import {
  listServers,
  selectClusterServers,
  neverAnsweredMetadataKey,
  type ExistingServers,
  type ListedServer,
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
    const [listed, state] = await Promise.all([listServers(client, cluster), readStateBeforeRun()]);
    const held = state && collectStackOwnedObjects(state);
    const servers = await judged(client, selectClusterServers(listed, { cluster, held }), state);
    return withPower(servers, listed, state);
  } catch (error) {
    if (error instanceof Failure) return undefined;
    throw error;
  }
}

/**
 * Decides which servers with the mark "never answered" are replaced. The state shows whether a
 * script has finished on the server after the mark was set. A server on which a script has finished
 * is part of the cluster, so the server is kept and its mark is removed. A server that is not in
 * this state is not changed.
 */
async function judged(
  client: CloudClient,
  servers: ExistingServers,
  state: readonly RecordedResource[] = [],
): Promise<ExistingServers> {
  const verdicts = Object.entries(servers).map(async ([name, server]) => {
    if (!server.failed) return [name, server] as const;
    const history = classifyRecordedServer(server.id, state);
    if (history === "part of the cluster") await unmark(client, server.id);
    return [name, { ...server, failed: history === "new" }] as const;
  });
  return Object.fromEntries(await Promise.all(verdicts));
}

type History = "not ours" | "part of the cluster" | "new";

/**
 * Returns the facts about a server in the state. The name of a script resource begins with the name
 * of its machine, and the resource contains the ID of its server.
 */
export function classifyRecordedServer(
  serverId: string,
  state: readonly RecordedResource[],
): History {
  const server = recordOf(serverId, state);
  if (!server) return "not ours";
  const machine = server.name.replace(/server$/, "");
  const worked = state.some(({ name, type, outputs }) => {
    if (type !== scriptType || !name.startsWith(machine)) return false;
    // The script `login` leaves nothing on the machine.
    if (name === `${machine}login`) return false;
    const ranOn = findScriptServerId(outputs);
    // If the server's ID cannot be read, the script may have run on this server. The server is then
    // kept.
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
      return typeof recorded === "string" && isIgnoredPowerStateRefused(recorded, status)
        ? [id]
        : [];
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
 * Records in the metadata of a server that the server never answered. The next run reads this mark,
 * even if another user starts the run.
 */
export const markNeverAnswered = async (client: CloudClient, serverId: string): Promise<void> => {
  const metadata = { [neverAnsweredMetadataKey]: serverId };
  await client.request("compute", "POST", `/servers/${serverId}/metadata`, { metadata });
};

/**
 * Removes the mark of a server that is part of the cluster. A mark that cannot be removed does no
 * harm, because the state is checked again.
 */
async function unmark(client: CloudClient, serverId: string): Promise<void> {
  if (pulumi.runtime.isDryRun()) return;
  await client
    .request("compute", "DELETE", `/servers/${serverId}/metadata/${neverAnsweredMetadataKey}`)
    .catch((error: unknown) => {
      if (!(error instanceof Failure)) throw error;
    });
}
