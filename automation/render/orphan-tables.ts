import { inventoryKinds, type CloudObjectKind } from "../../openstack/inventory/inventory.js";
import type { OwnedObject } from "../../openstack/inventory/marked-objects.js";
import type { KeptObject } from "../engine/operation-options.js";
import { formatTable } from "../../base/terminal/table.js";

/** Returns a table of objects that belong to clusters. */
export const renderOrphansTable = (found: readonly OwnedObject[]): string =>
  formatTable(
    ["KIND", "NAME", "ID", "IDENTITY", "WHY"],
    found.map(({ kind, name, id, mark, claim }) => [kind, name, id, mark.identity, claim]),
  );

/**
 * Returns a line about the kinds of objects that the user cannot list. Returns no line if the user
 * can list all kinds.
 */
export const renderHiddenKindsLines = (
  hidden: readonly CloudObjectKind[] = [],
): readonly string[] =>
  hidden.length === 0
    ? []
    : [
        `Not checked, because the cloud does not show them to this user: ${hidden.map((kind) => `${kind}s`).join(", ")}. A user with a role that can list them has to check.`,
      ];

interface Kept {
  readonly one: string;
  readonly many: (count: number) => string;
  /** Setting in Kubernetes that may be the reason why the object was kept. */
  readonly word?: string;
}

const ofKind: Readonly<Partial<Record<CloudObjectKind, Kept>>> = {
  "volume snapshot": {
    one: "One snapshot of a volume is kept, with its data",
    many: (count) => `${count} snapshots of volumes are kept, with their data`,
    word: "deletion policy Retain",
  },
  volume: {
    one: "One volume is kept, with its data",
    many: (count) => `${count} volumes are kept, with their data`,
    word: "reclaim policy Retain",
  },
  "floating IP": {
    one: "One floating IP of a Service is kept",
    many: (count) => `${count} floating IPs of Services are kept`,
    word: "annotation loadbalancer.openstack.org/keep-floatingip",
  },
};

/** Returns whether the object is kept because of `retainOnDelete`. */
const isRetained = ({ retained, kept }: KeptObject): boolean => retained === true || kept === true;

const wordsOf = (object: KeptObject): Kept => {
  const { kind } = object;
  return (
    (isRetained(object) ? undefined : ofKind[kind]) ?? {
      one: `One ${kind} is kept`,
      many: (count) => `${count} objects of kind ${kind} are kept`,
    }
  );
};

const client = (kind: CloudObjectKind): string => {
  const nouns: Partial<Record<CloudObjectKind, string>> = {
    "load balancer": "loadbalancer",
    "key pair": "keypair",
  };
  return `openstack ${nouns[kind] ?? kind.toLowerCase()} delete`;
};

/** Returns the reason why the destroy kept the object. */
function reasonOf(object: KeptObject): string {
  if (isRetained(object)) return "the program keeps it (retainOnDelete).";
  if (object.claim === "marked by stackadm")
    return "only its mark names the cluster, and a copy has the mark of its original.";
  const { word = "by the cluster" } = wordsOf(object);
  return `kept on purpose (${word}), or the cluster's API did not answer.`;
}

function linesOf(alike: readonly KeptObject[]): string[] {
  const [first] = alike;
  if (!first) return [];
  const { one, many } = wordsOf(first);
  return [
    `${alike.length === 1 ? one : many(alike.length)}: ${reasonOf(first)}`,
    ...alike.map(({ id, name }) => `  ${name} (${id})`),
    // The user's program says that a retained object must be kept.
    ...(isRetained(first)
      ? []
      : [
          `Delete what you do not need: ${client(first.kind)} ${alike.map(({ id }) => id).join(" ")}`,
        ]),
  ];
}

/**
 * Returns lines about the kept objects, with commands that delete the objects. The commands work in
 * the given order.
 */
export const renderKeptObjectLines = (kept: readonly KeptObject[]): string =>
  inventoryKinds
    .flatMap((kind) => {
      const ofKind = kept.filter((one) => one.kind === kind);
      const reasons = [...new Set(ofKind.map(reasonOf))];
      return reasons.flatMap((why) => linesOf(ofKind.filter((one) => reasonOf(one) === why)));
    })
    .join("\n");
