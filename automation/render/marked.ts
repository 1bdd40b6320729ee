import { kinds, type Kind } from "../../cloud/inventory.js";
import type { Orphan } from "../../cloud/orphans.js";
import type { KeptObject } from "../cluster/options.js";
import { table } from "./table.js";

/** Returns a table of the objects that carry a cluster's marks. */
export const markedTable = (found: readonly Orphan[]): string =>
  table(
    ["KIND", "NAME", "ID", "IDENTITY", "WHY"],
    found.map(({ kind, name, id, mark, claim }) => [kind, name, id, mark.identity || "-", claim]),
  );

/** Returns a line about the kinds that the cloud does not show; empty if there are none. */
export const hiddenLines = (hidden: readonly Kind[] = []): readonly string[] =>
  hidden.length === 0
    ? []
    : [
        `Not looked at, because the cloud does not show them to this user: ${hidden.map((kind) => `${kind}s`).join(", ")}. Somebody who has a role for that has to look.`,
      ];

interface Kept {
  readonly one: string;
  readonly many: (count: number) => string;
  /** Name of the cluster's own setting for keeping the object. */
  readonly word?: string;
}

const ofKind: Readonly<Partial<Record<Kind, Kept>>> = {
  "volume snapshot": {
    one: "One snapshot of a volume stays, with the data",
    many: (count) => `${count} snapshots of volumes stay, with the data`,
    word: "deletion policy Retain",
  },
  volume: {
    one: "One volume stays, with the data",
    many: (count) => `${count} volumes stay, with the data`,
    word: "reclaim policy Retain",
  },
  "floating IP": {
    one: "One floating IP of a Service stays",
    many: (count) => `${count} floating IPs of Services stay`,
    word: "annotation loadbalancer.openstack.org/keep-floatingip",
  },
};

const wordsOf = ({ kind, retained }: KeptObject): Kept =>
  (retained === true ? undefined : ofKind[kind]) ?? {
    one: `One ${kind} stays`,
    many: (count) => `${count} of the kind ${kind} stay`,
  };

const client = (kind: Kind): string => {
  const nouns: Partial<Record<Kind, string>> = {
    "load balancer": "loadbalancer",
    "key pair": "keypair",
  };
  return `openstack ${nouns[kind] ?? kind.toLowerCase()} delete`;
};

/** Returns why the object is kept. */
function reasonOf(object: KeptObject): string {
  if (object.retained === true) return "the program has it stay (retainOnDelete).";
  if (object.claim === "marked by stackadm")
    return "only its mark says that it is the cluster's, and a copy has the mark of its original.";
  const { word = "by the cluster" } = wordsOf(object);
  return `kept on purpose (${word}), or the cluster could not be asked.`;
}

function linesOf(alike: readonly KeptObject[]): string[] {
  const [first] = alike;
  if (!first) return [];
  const { one, many } = wordsOf(first);
  return [
    `${alike.length === 1 ? one : many(alike.length)}: ${reasonOf(first)}`,
    ...alike.map(({ id, name }) => `  ${name} (${id})`),
    `Delete what nobody needs: ${client(first.kind)} ${alike.map(({ id }) => id).join(" ")}`,
  ];
}

/**
 * Returns lines about the kept objects, with the commands that delete them, in an order in which
 * they can be deleted.
 */
export const keptLines = (kept: readonly KeptObject[]): string =>
  kinds
    .flatMap((kind) => {
      const ofKind = kept.filter((one) => one.kind === kind);
      const reasons = [...new Set(ofKind.map(reasonOf))];
      return reasons.flatMap((why) => linesOf(ofKind.filter((one) => reasonOf(one) === why)));
    })
    .join("\n");
