import { z } from "zod";
import { findEtcdPatchConflicts } from "../kubernetes/static-pod-patches.js";
import { groupFieldSchemas, nodesSchema, type MachineGroupSpec } from "./group-options.js";
import type { ConflictCheck, SeparateGroupDefinition } from "./separate-group-definition.js";
import {
  doc,
  nonEmptyTextField,
  strictObject,
  shortValue,
  integerField,
  inputField,
} from "../../schema/fields.js";
import { etcdMemberVolumeSchemas } from "./volumes.js";

/**
 * Allowed numbers of etcd members. 1, 3 and 5 members tolerate the loss of 0, 1 and 2 members. An
 * even number is refused, because it has no advantage: 4 members tolerate the loss of only 1
 * member, like 3 members.
 */
const counts = [1, 3, 5];

const etcdSchema = strictObject({
  kind: z
    .literal("dedicated", {
      error: ({ input }) =>
        `${shortValue(input)} is not a kind of etcd; write dedicated, or leave \`etcd\` out`,
    })
    .meta(
      doc(
        "refused",
        "Where etcd runs. `dedicated`: on separate machines, under a separate certificate authority, whose key never leaves them.",
        "on the control planes",
      ),
    ),
  flavor: inputField(nonEmptyTextField("a flavor")).meta(
    doc(
      "replaces nodes",
      "Flavor of each etcd machine, by name or ID. Frozen while the machine exists. The speed of its disk limits how fast the cluster writes.",
      "**required** with `etcd`",
    ),
  ),
  count: z
    .number({
      error: ({ input }) => `${shortValue(input)} is not a number of members; write 1, 3 or 5`,
    })
    .refine((count) => counts.includes(count), {
      error: ({ input }) => `${shortValue(input)} members have no good majority; write 1, 3 or 5`,
    })
    .default(3)
    .meta(
      doc(
        "refused",
        "Number of etcd machines: 1, 3 or 5, of which the cluster can lose 0, 1 or 2.",
      ),
    ),
  generation: integerField(0, "a generation")
    .default(0)
    .meta(
      doc(
        "replaces nodes",
        "Raise it to replace the etcd machines, of which there must be 3 or 5, with new ones that use the current image, flavor, zone, user data and login key. Until then these are frozen. They are replaced one at a time in the order of their positions, each only if etcd keeps its quorum without it, and each new member joins before the next one is replaced. Control planes are replaced in a separate run.",
      ),
    ),
  ...groupFieldSchemas,
  ...etcdMemberVolumeSchemas.all,
  nodes: nodesSchema(etcdMemberVolumeSchemas.one),
}).optional();

/** Arguments that the checks of etcd machines compare. */
export interface EtcdCheckArguments {
  readonly etcd?: object | undefined;
  readonly topology?: string | undefined;
  readonly kubernetes: { readonly patches: { readonly etcd?: unknown } };
}

/** Reports separate etcd machines together with the topology `single`, which has one machine. */
const topologyConflicts = ({
  etcd: own,
  topology,
}: Pick<EtcdCheckArguments, "etcd" | "topology">): z.core.$ZodRawIssue[] =>
  own && topology === "single"
    ? [
        {
          code: "custom",
          path: ["etcd"],
          input: undefined,
          message: "the topology single is one machine; leave etcd or `topology` out",
        },
      ]
    : [];

const conflicts: readonly ConflictCheck<EtcdCheckArguments>[] = [
  { of: ["etcd", "topology"], find: topologyConflicts },
  { of: ["etcd", "kubernetes"], find: findEtcdPatchConflicts },
];

/**
 * Arguments of the machines that run only etcd: their schema, their checks, and the machine group
 * that they describe. Without these machines, each control plane also runs an etcd member.
 */
export const etcdGroupDefinition = {
  schema: etcdSchema,
  group: (written: MachineGroupSpec): MachineGroupSpec => written,
  conflicts,
} satisfies SeparateGroupDefinition;
