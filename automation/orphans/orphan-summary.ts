import { Failure } from "../../base/failures/failure.js";
import type { OwnedObject } from "../../openstack/inventory/marked-objects.js";

/** Returns the command that lists a cluster's objects. */
export const renderOrphansListCommand = (identity: string): string =>
  `stackadm orphans --identity ${identity}`;

/** Returns the command that deletes the objects of a cluster whose state is lost. */
export const renderOrphansDeleteCommand = (identity: string): string =>
  `${renderOrphansListCommand(identity)} --delete`;

/** Milliseconds after its creation in which an object may belong to an `up` that still runs. */
const youngMilliseconds = 60 * 60_000;

/**
 * Returns whether the cluster may still be in use: it has a server whose status is not ERROR. A
 * stopped server counts, too. An `up` that has just begun has no server yet, so an object that was
 * created within the last hour, or that is being created, also counts.
 */
export const mayBeRunning = (found: readonly OwnedObject[], now = Date.now()): boolean =>
  found.some(
    ({ kind, status, created }) =>
      (kind === "server" && status !== "ERROR") ||
      status === "PENDING_CREATE" ||
      now - Date.parse(created) < youngMilliseconds,
  );

/** Returns one line per cluster: its identity, and how many of its servers run. */
export function renderClusterSummary(found: readonly OwnedObject[]): string {
  const identities = [...new Set(found.map(({ mark }) => mark.identity))];
  return identities
    .map((identity) => {
      const objects = found.filter(({ mark }) => mark.identity === identity);
      const servers = objects.filter(({ kind }) => kind === "server");
      const running = servers.filter(({ status }) => status === "ACTIVE").length;
      const who = `cluster '${objects[0]?.mark.name ?? ""}', identity ${identity}`;
      return `  ${who}: ${objects.length} objects, ${running} of ${servers.length} servers running`;
    })
    .join("\n");
}

/** Returns the error that asks for an identity, because several clusters may share a name. */
export const createAmbiguousClusterError = (found: readonly OwnedObject[]): Failure =>
  new Failure(
    "INVALID_USAGE",
    `Several clusters may share this name; write the identity of the one to delete:\n${renderClusterSummary(found)}`,
    `If no state has the cluster any more, run \`${renderOrphansDeleteCommand(found[0]?.mark.identity ?? "IDENTITY")}\`; otherwise run \`stackadm destroy\`.`,
  );
