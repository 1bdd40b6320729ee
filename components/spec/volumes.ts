import type { z } from "zod";
import { doc, present, record, text, whole } from "../arguments/values.js";

/** In a volume's `zone` it becomes the zone of the machine. */
export const machinesZone = "{zone}";

/** What is said for one machine of a group. */
const ofOne = "For this machine alone, in place of the group's, type and zone too.";

// Without quotes, YAML reads the placeholder as a map.
const zoneOfCinder = text(
  (value) => value.trim() !== "",
  `does not name an availability zone of Cinder; write its name, or "${machinesZone}" between quotes for the machine's own zone`,
);

const volume = (what: string, least: number, more: string) => {
  const frozen = (text: string, otherwise?: string) =>
    doc("replaces nodes", [text, more].filter(Boolean).join(" "), otherwise);
  return record({
    size: whole(least, "a size in GiB").meta(
      frozen(
        `Size of ${what} in GiB. A machine that lives keeps its own, and neither gets nor loses such a volume.`,
      ),
    ),
    type: present("a volume type")
      .optional()
      .meta(frozen(`Cinder volume type of ${what}.`, "Cinder's default type")),
    zone: zoneOfCinder
      .optional()
      .meta(
        frozen(
          `Cinder availability zone of ${what}; \`${machinesZone}\` in it becomes the machine's own.`,
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
    "a volume of its own for /var/lib/containerd: images and containers",
    1,
    more,
  ),
});
const withEtcd = (more = "") => ({
  ...machineVolumes(more),
  etcdVolume: volume("a volume of its own for /var/lib/etcd", 1, more),
});

/** Volumes of every machine of a group, and of one of them alone. They come and go with the server. */
export const workerVolumes = { all: machineVolumes(), one: machineVolumes(ofOne) };

/** The same for machines that run etcd, or may. */
export const etcdVolumes = { all: withEtcd(), one: withEtcd(ofOne) };

/** The same for a machine that runs no containers. */
export const bastionVolumes = { rootVolume: root() };

/** As it is written. */
export interface WrittenVolume {
  readonly size: number;
  readonly type?: string | undefined;
  readonly zone?: string | undefined;
}

/** Volumes as they are written for a group or for one machine. */
export interface WrittenVolumes {
  readonly rootVolume?: WrittenVolume | undefined;
  readonly runtimeVolume?: WrittenVolume | undefined;
  readonly etcdVolume?: WrittenVolume | undefined;
}
const volumeKeys = ["rootVolume", "runtimeVolume", "etcdVolume"] as const;

interface Group extends WrittenVolumes {
  readonly count?: number | undefined;
  readonly zones?: readonly string[] | undefined;
  readonly nodes: Readonly<Record<string, WrittenVolumes & { readonly zone?: string | undefined }>>;
}

/** Volumes that are to be in their machine's zone, of machines that have none. `zones`: the cluster's. */
export const volumesWithoutZone = (
  groups: readonly { readonly path: readonly string[]; readonly group: Group }[],
  zones: readonly string[],
): z.core.$ZodRawIssue[] =>
  groups.flatMap(({ path, group }) => {
    if ((group.zones ?? zones).length > 0) return [];
    const { count = 1, nodes } = group;
    const found = Array.from({ length: count }, (_, position) => {
      const own = nodes[String(position)] ?? {};
      if (own.zone !== undefined) return [];
      return volumeKeys.flatMap((key) => {
        const written = own[key] ?? group[key];
        const at = own[key] ? ["nodes", String(position), key] : [key];
        return written?.zone?.includes(machinesZone) === true
          ? [{ path: [...path, ...at, "zone"], zone: written.zone }]
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
