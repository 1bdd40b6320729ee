import type { CloudClient } from "../../cloud/client.js";
import { describeServer } from "../../cloud/diagnose.js";
import { listObjects } from "../../cloud/inventory.js";
import { ClusterError } from "./cluster-error.js";
import type { StateExport } from "./state.js";

const text = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;

/** The server a resource of the state stands for: its id, or its name when it was never finished. */
export function serverOf(
  state: StateExport | undefined,
  urn: string,
): { readonly id?: string; readonly name?: string } | undefined {
  const pending = state?.deployment.pending_operations?.map(({ resource }) => resource) ?? [];
  const found = [...(state?.deployment.resources ?? []), ...pending].find(
    (resource) => resource.urn === urn,
  );
  if (!found) return undefined;
  return { id: text(found.id), name: text(found.inputs?.["name"]) };
}

/** The provider only says "unexpected state ERROR": Nova knows why. Adds the machine's name and Nova's fault. */
export async function withNovasFault(
  error: ClusterError,
  cloud: CloudClient,
  state: StateExport | undefined,
): Promise<ClusterError> {
  const server = serverOf(state, error.subject.urn ?? "");
  if (!server) return error;
  const servers = server.id === undefined ? await listObjects(cloud, "server") : [];
  const id = server.id ?? servers.find(({ name }) => name === server.name)?.id;
  if (id === undefined) return error;
  const described = await describeServer(cloud, id);
  const [fault = described] = described.split("\nLast lines of its console");
  return new ClusterError(
    error.code,
    `The machine ${server.name ?? id} could not be made: ${fault}`,
    error.hint,
    error.subject,
  );
}
