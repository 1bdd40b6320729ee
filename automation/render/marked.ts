import type { Kind } from "../../cloud/inventory.js";
import type { Orphan } from "../../cloud/orphans.js";
import { table } from "./table.js";

/** What carries a cluster's marks, for people. */
export const markedTable = (found: readonly Orphan[]): string =>
  table(
    ["KIND", "NAME", "ID", "IDENTITY", "WHY"],
    found.map(({ kind, name, id, mark, claim }) => [kind, name, id, mark.identity || "-", claim]),
  );

/** What nobody could look at. Empty when there is nothing of the kind. */
export const hiddenLines = (hidden: readonly Kind[] = []): readonly string[] =>
  hidden.length === 0
    ? []
    : [
        `Not looked at, because the cloud does not show them to this user: ${hidden.map((kind) => `${kind}s`).join(", ")}. Somebody who has a role for that has to look.`,
      ];

interface Kept {
  readonly one: string;
  readonly many: (count: number) => string;
  readonly why: string;
  readonly command: string;
}

/** In this order: Cinder keeps a volume that has a snapshot. */
const ofKind: Readonly<Partial<Record<Orphan["kind"], Kept>>> = {
  "volume snapshot": {
    one: "One snapshot of a volume stays, with the data",
    many: (count) => `${count} snapshots of volumes stay, with the data`,
    why: "deletion policy Retain",
    command: "openstack volume snapshot delete",
  },
  volume: {
    one: "One volume stays, with the data",
    many: (count) => `${count} volumes stay, with the data`,
    why: "reclaim policy Retain",
    command: "openstack volume delete",
  },
  "floating IP": {
    one: "One floating IP of a Service stays",
    many: (count) => `${count} floating IPs of Services stay`,
    why: "annotation loadbalancer.openstack.org/keep-floatingip",
    command: "openstack floating ip delete",
  },
};

/** What stays, named for whoever wants it, or wants it gone. */
export const keptLines = (kept: readonly Orphan[]): string =>
  Object.entries(ofKind)
    .flatMap(([kind, { one, many, why, command }]) => {
      const mine = kept.filter((orphan) => orphan.kind === kind);
      if (mine.length === 0) return [];
      return [
        `${mine.length === 1 ? one : many(mine.length)}: kept on purpose (${why}), or the cluster could not be asked.`,
        ...mine.map(({ id, name }) => `  ${name} (${id})`),
        `Delete what nobody needs: ${command} ${mine.map(({ id }) => id).join(" ")}`,
      ];
    })
    .join("\n");
