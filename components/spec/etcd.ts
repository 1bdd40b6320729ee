import { z } from "zod";
import { groupOptions, nodesOf } from "./group-options.js";
import { doc, present, record, shown, whole } from "../arguments/values.js";
import { etcdVolumes } from "./volumes.js";

/** Numbers of members that can lose none, one or two and go on; an even number would be worse than one less. */
const counts = [1, 3, 5];

/** Machines that run etcd and nothing else. Without it, each control plane runs a member beside the API. */
export const etcd = record({
  kind: z
    .literal("dedicated", {
      error: ({ input }) =>
        `${shown(input)} is not a kind of etcd; write dedicated, or leave \`etcd\` out`,
    })
    .meta(
      doc(
        "refused",
        "Where etcd runs. `dedicated`: on machines of its own, under its own certificate authority, whose key never leaves them.",
        "on the control planes",
      ),
    ),
  flavor: present("a flavor").meta(
    doc(
      "replaces nodes",
      "Flavor of each of etcd's machines, by name or ID. Frozen while the machine lives. Its disk decides how fast the cluster writes.",
      "**required** with `etcd`",
    ),
  ),
  count: z
    .number({ error: ({ input }) => `${shown(input)} is not a number of members; write 1, 3 or 5` })
    .refine((count) => counts.includes(count), {
      error: ({ input }) => `${shown(input)} members have no good majority; write 1, 3 or 5`,
    })
    .default(3)
    .meta(doc("refused", "How many machines etcd has: 1, 3 or 5, which can lose 0, 1 or 2.")),
  generation: whole(0, "a generation")
    .default(0)
    .meta(
      doc(
        "replaces nodes",
        "Raise it to replace etcd's machines, of which there are 3 or 5, by new ones with the present image, flavor, zone, user data and login key. Until then those are frozen. They are replaced one at a time in the order of their positions, each only where etcd goes on without it, and a member again before the next; control planes in a run of their own.",
      ),
    ),
  ...groupOptions,
  ...etcdVolumes.all,
  nodes: nodesOf(etcdVolumes.one),
}).optional();

interface Written {
  readonly etcd?: object | undefined;
  readonly topology?: string | undefined;
  readonly workers: Readonly<Record<string, unknown>>;
}

/** What cannot stand beside machines of etcd. */
export function besideEtcd({ etcd: own, topology, workers }: Written): z.core.$ZodRawIssue[] {
  if (!own) return [];
  const wrong = (path: string[], message: string): z.core.$ZodRawIssue => ({
    ...{ code: "custom", path, input: undefined, message },
  });
  return [
    ...(topology === "single"
      ? [wrong(["etcd"], "the topology single is one machine; leave etcd or `topology` out")]
      : []),
    ...("etcd" in workers
      ? [wrong(["workers", "etcd"], "is the name of etcd's machines; give the pool another name")]
      : []),
  ];
}
