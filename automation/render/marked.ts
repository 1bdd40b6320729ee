import type { Orphan } from "../../cloud/orphans.js";
import { table } from "./table.js";

/** What carries a cluster's marks, for people. */
export const markedTable = (found: readonly Orphan[]): string =>
  table(
    ["KIND", "NAME", "ID", "IDENTITY", "WHY"],
    found.map(({ kind, name, id, mark, claim }) => [kind, name, id, mark.identity || "-", claim]),
  );

/** Volumes that stay, named for whoever wants their data, or wants them gone. */
export function keptLines(kept: readonly Orphan[]): string {
  const what = kept.length === 1 ? "One volume stays" : `${kept.length} volumes stay`;
  return [
    `${what}, with the data: kept on purpose (reclaim policy Retain), or the cluster could not be asked.`,
    ...kept.map(({ id, name }) => `  ${name} (${id})`),
    `Delete what nobody needs: openstack volume delete ${kept.map(({ id }) => id).join(" ")}`,
  ].join("\n");
}
