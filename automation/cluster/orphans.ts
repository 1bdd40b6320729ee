import { UserError } from "../../base/user-error.js";
import type { Orphan } from "../../cloud/orphans.js";

/** The command that shows what there is of a cluster. */
export const showCommand = (identity: string): string =>
  `npx stackadm orphans --identity ${identity}`;

/** The command that deletes what is left of a cluster when its state is gone. */
export const orphansCommand = (identity: string): string => `${showCommand(identity)} --delete`;

/** A server may hold a living cluster, also one that was stopped; but for one that Nova could not make. */
export const mayLive = (found: readonly Orphan[]): boolean =>
  found.some(({ kind, status }) => kind === "server" && status !== "ERROR");

/** One line per cluster: its identity, and whether it looks alive. */
export function clusterLines(found: readonly Orphan[]): string {
  const identities = [...new Set(found.map(({ mark }) => mark.identity))];
  return identities
    .map((identity) => {
      const objects = found.filter(({ mark }) => mark.identity === identity);
      const servers = objects.filter(({ kind }) => kind === "server");
      const running = servers.filter(({ status }) => status === "ACTIVE").length;
      const who = `cluster '${objects[0]?.mark.name ?? ""}', identity ${identity || "unknown"}`;
      return `  ${who}: ${objects.length} objects, ${running} of ${servers.length} servers running`;
    })
    .join("\n");
}

/** Names are anybody's: only an identity says which cluster is to be deleted. */
export function whichCluster(found: readonly Orphan[]): UserError {
  const identity = found.find(({ mark }) => mark.identity !== "")?.mark.identity;
  return new UserError(
    `Write which cluster is to be deleted, by its identity:\n${clusterLines(found)}`,
    identity === undefined
      ? "Objects without an identity were made by an earlier release: delete them by hand."
      : `\`${orphansCommand(identity)}\`, when no state holds it any more; else \`npx stackadm destroy\`.`,
    2,
  );
}
