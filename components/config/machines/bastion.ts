import type { z } from "zod";
import {
  doc,
  nonEmptyTextField,
  strictObject,
  integerField,
  inputField,
} from "../../schema/fields.js";
import { machineFieldSchemas, type MachineGroupSpec } from "./group-options.js";
import type { ConflictCheck, SeparateGroupDefinition } from "./separate-group-definition.js";
import type { sshAccessModes } from "./ssh-access.js";
import { bastionVolumeSchemas } from "./volumes.js";

/** Options of the bastion: a machine that only forwards SSH to the other machines. */
const bastionSchema = strictObject({
  flavor: inputField(nonEmptyTextField("a flavor")).meta(
    doc(
      "replaces nodes",
      "With `access: bastion`: flavor of the bastion, by name or ID. The bastion runs nothing but SSH.",
      "**required** for `bastion`",
    ),
  ),
  zone: nonEmptyTextField("an availability zone")
    .optional()
    .meta(
      doc(
        "replaces nodes",
        "With `access: bastion`: availability zone of the bastion.",
        "the first of `zones`",
      ),
    ),
  generation: integerField(0, "a generation")
    .default(0)
    .meta(
      doc(
        "replaces nodes",
        "Raise it to replace the bastion with a new one that uses the current image, flavor, zone, user data and login key. Until then these are frozen. During the replacement no machine can be reached by SSH; the cluster keeps running.",
      ),
    ),
  ...machineFieldSchemas,
  ...bastionVolumeSchemas,
}).optional();

/** Arguments that the checks of the bastion compare. */
export interface BastionCheckArguments {
  readonly access: (typeof sshAccessModes)[number];
  readonly bastion?: object | undefined;
}

/** Reports `access: bastion` without `bastion`, and `bastion` with another `access`. */
function accessConflicts({
  access,
  bastion: written,
}: BastionCheckArguments): z.core.$ZodRawIssue[] {
  if ((access === "bastion") === (written !== undefined)) return [];
  const message = written
    ? `is not used with access ${access}; write \`access: bastion\`, or leave it out`
    : "is missing; write its flavor, like `{flavor: m1.tiny}`";
  return [{ code: "custom", path: ["bastion"], input: undefined, message }];
}

const conflicts: readonly ConflictCheck<BastionCheckArguments>[] = [
  { of: ["access", "bastion"], find: accessConflicts },
];

/**
 * Arguments of the bastion: their schema, their checks, and the machine group that they describe.
 */
export const bastionGroupDefinition = {
  schema: bastionSchema,
  group: ({ zone, ...written }: NonNullable<z.output<typeof bastionSchema>>): MachineGroupSpec => ({
    ...written,
    count: 1,
    nodes: {},
    spread: "soft",
    steps: { beforeKubeadm: "", afterKubeadm: "" },
    zones: zone === undefined ? undefined : [zone],
  }),
  conflicts,
} satisfies SeparateGroupDefinition;
