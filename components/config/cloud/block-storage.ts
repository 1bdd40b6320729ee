import { z } from "zod";
import { cloudConfSectionSchemas } from "./cloud-conf-keys.js";
import {
  doc,
  list,
  nonEmptyTextField,
  strictObject,
  shortValue,
  textField,
  booleanField,
} from "../../schema/fields.js";

/** Options of Cinder CSI: keys of the section [BlockStorage] of cloud.conf, snapshots and zones. */
export const blockStorageSchema = strictObject({
  ...cloudConfSectionSchemas.blockStorage,
  snapshots: booleanField()
    .optional()
    .meta(
      doc(
        "refused",
        "Whether volumes can have snapshots: their custom resources, the snapshot controller and the class `cinder`. An existing cluster can gain them, and then keeps them.",
        "`false`",
      ),
    ),
  topology: booleanField()
    .optional()
    .meta(
      doc(
        "in place",
        "Whether a volume is created in the zone of its pod, and pods that use it stay in that zone. `false` for a cloud whose Cinder zones differ from Nova's, or with one Cinder zone that all machines reach.",
        "`true`",
      ),
    ),
}).prefault({});

const oneOf = <Value extends string>(values: readonly [Value, ...Value[]], what: string) =>
  z.enum(values, {
    error: ({ input }) => `${shortValue(input)} is not ${what}; write ${values.join(" or ")}`,
  });

export const storageClassesSchema = list(
  strictObject({
    name: textField(
      (value) => /^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$/.test(value),
      "is not the name of a storage class; use lower-case letters, digits, dashes and dots",
    ).meta(doc("in place", "Name of the StorageClass.")),
    default: booleanField()
      .default(false)
      .meta(doc("in place", "Whether claims without a class get this one.")),
    type: nonEmptyTextField("a volume type")
      .optional()
      .meta(
        doc(
          "in place",
          "Cinder volume type. A change replaces the StorageClass, but not its volumes.",
          "Cinder's default type",
        ),
      ),
    availability: nonEmptyTextField("an availability zone of Cinder")
      .optional()
      .meta(
        doc(
          "in place",
          "Cinder availability zone of the volumes.",
          "the zone of the pod's machine",
        ),
      ),
    zones: list(nonEmptyTextField("a zone of Nova"), 1, "a list of zones of machines")
      .optional()
      .meta(doc("in place", "Nova zones in which pods with these volumes run.", "all")),
    reclaimPolicy: oneOf(["Delete", "Retain"], "what becomes of a volume whose claim is deleted")
      .optional()
      .meta(
        doc(
          "in place",
          "What happens to a volume whose claim is deleted: `Retain` keeps it, also when the cluster is destroyed.",
          "`Delete`",
        ),
      ),
    volumeBindingMode: oneOf(["WaitForFirstConsumer", "Immediate"], "when a volume is made")
      .optional()
      .meta(
        doc(
          "in place",
          "When a volume is created: with its first pod, where that pod runs, or with the claim.",
          "`WaitForFirstConsumer`",
        ),
      ),
    fsType: oneOf(["ext4", "ext3", "xfs", "btrfs"], "a file system of the driver")
      .optional()
      .meta(doc("in place", "File system of the volumes.", "`ext4`")),
    allowVolumeExpansion: booleanField()
      .optional()
      .meta(doc("in place", "Whether a claim's size can be increased later.", "`true`")),
  }),
  0,
  "a list of storage classes",
).default([{ name: "gold", default: true }]);

type Classes = z.output<typeof storageClassesSchema>;

/** Reports more than one default StorageClass, and StorageClasses with the same name. */
export function findStorageClassConflicts(classes: Classes): z.core.$ZodRawIssue[] {
  const issue = (
    path: (string | number)[],
    input: unknown,
    message: string,
  ): z.core.$ZodRawIssue => ({
    code: "custom",
    path: ["storageClasses", ...path],
    input,
    message,
  });
  const names = classes.map(({ name }) => name);
  const defaults = classes.filter((one) => one.default).map(({ name }) => name);
  return [
    ...(defaults.length < 2
      ? []
      : [
          issue(
            [],
            classes,
            `${defaults.join(" and ")} are both the default; leave \`default: true\` on one of them`,
          ),
        ]),
    ...names.flatMap((name, index) =>
      names.indexOf(name) === index
        ? []
        : [issue([index, "name"], name, `${name} is the name of another class; choose another`)],
    ),
  ];
}
