import type { Orphan } from "../../cloud/orphans.js";

/** The command that deletes what is left of a cluster when its state is gone. */
export const orphansCommand = (identity: string): string =>
  `npx stackadm orphans --identity ${identity} --delete`;

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
