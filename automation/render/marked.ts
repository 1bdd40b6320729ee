import type { Orphan } from "../../cloud/orphans.js";
import { table } from "./table.js";

/** What carries a cluster's marks, for people. */
export const markedTable = (found: readonly Orphan[]): string =>
  table(
    ["KIND", "NAME", "ID", "IDENTITY", "WHY"],
    found.map(({ kind, name, id, mark, claim }) => [kind, name, id, mark.identity || "-", claim]),
  );

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

/** Volumes that stay, named for whoever wants their data, or wants them gone. */
export function keptLines(kept: readonly Orphan[]): string {
  const what = kept.length === 1 ? "One volume stays" : `${kept.length} volumes stay`;
  return [
    `${what}, with the data: kept on purpose (reclaim policy Retain), or the cluster could not be asked.`,
    ...kept.map(({ id, name }) => `  ${name} (${id})`),
    `Delete what nobody needs: openstack volume delete ${kept.map(({ id }) => id).join(" ")}`,
  ].join("\n");
}
