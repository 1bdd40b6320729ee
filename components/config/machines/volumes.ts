import type { z } from "zod";
import type { GroupAtPath } from "./group-options.js";
import {
  doc,
  nonEmptyTextField,
  strictObject,
  textField,
  integerField,
} from "../../schema/fields.js";

/** Placeholder in a volume's `zone`. The name of the machine's zone replaces it. */
export const machineZonePlaceholder = "{zone}";

/** Last sentence in the documentation of a single machine's volumes. */
const ofOne = "For this machine only, instead of the group's volume, including type and zone.";

// The message asks for quotes, because YAML reads the bare placeholder as a map.
const zoneOfCinder = textField(
  (value) => value.trim() !== "",
  `does not name an availability zone of Cinder; write its name, or "${machineZonePlaceholder}" between quotes for the machine's own zone`,
);

const volume = (what: string, least: number, more: string) => {
  const frozen = (text: string, otherwise?: string) =>
    doc("replaces nodes", [text, more].filter(Boolean).join(" "), otherwise);
  return strictObject({
    size: integerField(least, "a size in GiB").meta(
      frozen(
        `Size of ${what} in GiB. You cannot add such a volume to an existing machine, or remove it.`,
      ),
    ),
    type: nonEmptyTextField("a volume type")
      .optional()
      .meta(frozen(`Cinder volume type of ${what}.`, "Cinder's default type")),
    zone: zoneOfCinder
      .optional()
      .meta(
        frozen(
          `Cinder availability zone of ${what}; \`${machineZonePlaceholder}\` in it becomes the machine's own.`,
          "Cinder's default zone",
        ),
      ),
  }).optional();
};

const root = (more = "") =>
  volume("the volume that the machine boots from, instead of a disk of its host", 4, more);
const machineVolumes = (more = "") => ({
  rootVolume: root(more),
  runtimeVolume: volume(
    "a separate volume for /var/lib/containerd: images and containers",
    1,
    more,
  ),
});
const withEtcd = (more = "") => ({
  ...machineVolumes(more),
  etcdVolume: volume("a separate volume for /var/lib/etcd", 1, more),
});

/**
 * Schemas of the volumes of workers: `all` for a group, `one` for a single machine. Volumes are
 * created and deleted with the server.
 */
export const workerVolumeSchemas = { all: machineVolumes(), one: machineVolumes(ofOne) };

/**
 * Schemas of the volumes of control planes and etcd machines: `all` for a group, `one` for a single
 * machine.
 */
export const etcdMemberVolumeSchemas = { all: withEtcd(), one: withEtcd(ofOne) };

/** Schema of the bastion's volume. The bastion runs no containers, so it has only a root volume. */
export const bastionVolumeSchemas = { rootVolume: root() };

/** Volume in the specification. */
export interface VolumeSpec {
  readonly size: number;
  readonly type?: string | undefined;
  readonly zone?: string | undefined;
}

/** Volumes in the specification of a group or of a single machine. */
export interface VolumeSpecs {
  readonly rootVolume?: VolumeSpec | undefined;
  readonly runtimeVolume?: VolumeSpec | undefined;
  readonly etcdVolume?: VolumeSpec | undefined;
}
const volumeKeys = ["rootVolume", "runtimeVolume", "etcdVolume"] as const;

interface Group extends VolumeSpecs {
  readonly count: number;
  readonly zones?: readonly string[] | undefined;
  readonly nodes: Readonly<Record<string, VolumeSpecs & { readonly zone?: string | undefined }>>;
}

/**
 * Reports volumes whose `zone` contains the placeholder although their machine has no zone. `zones`
 * are the zones of the cluster, for groups without `zones`.
 */
export const findVolumeZoneConflicts = (
  groups: readonly GroupAtPath<Group>[],
  zones: readonly string[],
): z.core.$ZodRawIssue[] =>
  groups.flatMap(({ path, group }) => {
    if ((group.zones ?? zones).length > 0) return [];
    const { count, nodes } = group;
    const found = Array.from({ length: count }, (_, position) => {
      const own = nodes[String(position)] ?? {};
      if (own.zone !== undefined) return [];
      return volumeKeys.flatMap((key) => {
        const written = own[key] ?? group[key];
        const settingPath = own[key] ? ["nodes", String(position), key] : [key];
        return written?.zone?.includes(machineZonePlaceholder) === true
          ? [{ path: [...path, ...settingPath, "zone"], zone: written.zone }]
          : [];
      });
    }).flat();
    const once = new Map(found.map((one) => [one.path.join("."), one]));
    return [...once.values()].map(({ path: where, zone }) => ({
      code: "custom" as const,
      path: where,
      input: zone,
      message: `${zone} stands for the machine's zone, and Nova chooses that here; write \`zones\`, or the name of a zone of Cinder`,
    }));
  });
