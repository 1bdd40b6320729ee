import { machinesZone, type WrittenVolume, type WrittenVolumes } from "../spec/volumes.js";

/** Where a volume is mounted, with which mode, and what must not start without it. */
interface Mount {
  readonly path: string;
  readonly mode: string;
  /** Without its `.service`. */
  readonly unit: string;
}

/** What a volume of a machine is for: one row each. The one that it boots from is mounted nowhere by us. */
export const volumePurposes = {
  root: undefined,
  runtime: { path: "/var/lib/containerd", mode: "0711", unit: "containerd" },
  // kubelet starts etcd, which would begin with nothing on the machine's own disk.
  etcd: { path: "/var/lib/etcd", mode: "0700", unit: "kubelet" },
} as const satisfies Readonly<Record<string, Mount | undefined>>;
export type VolumePurpose = keyof typeof volumePurposes;

export interface PlannedVolume extends WrittenVolume {
  readonly purpose: VolumePurpose;
  /** Name in Cinder. */
  readonly name: string;
}

/** As it is written, with the machine's zone in place of what stands for it. */
const placed = ({ zone, ...volume }: WrittenVolume, machines = ""): WrittenVolume => ({
  ...volume,
  ...(zone !== undefined && { zone: zone.replaceAll(machinesZone, machines) }),
});

/**
 * The volumes of one machine; the one that it boots from first. What is written for it alone comes before what is for its group.
 * `zone`: the machine's; a volume that is to be there has one (spec/volumes.ts).
 */
export const volumesOf = (
  { name: machine, zone }: { readonly name: string; readonly zone: string | undefined },
  own: WrittenVolumes,
  group: WrittenVolumes,
): readonly PlannedVolume[] =>
  (Object.keys(volumePurposes) as VolumePurpose[]).flatMap((purpose) => {
    const volume = own[`${purpose}Volume`] ?? group[`${purpose}Volume`];
    return volume ? [{ ...placed(volume, zone), purpose, name: `${machine}-${purpose}` }] : [];
  });

/**
 * Slots for disks that a machine of KVM has with virtio-blk, which takes one for each: of 32 on its PCI bus some seven are for the
 * chipset, the display, the network, the memory balloon, random numbers and the serial port.
 */
const slots = 25;

/**
 * Volumes that any of these machines takes besides its own. All nodes are told the same number, so the machine with most volumes decides.
 * `interfaces`: of each machine, of which the second one takes a slot as well.
 */
export function attachableVolumes(
  machines: readonly { readonly volumes: readonly PlannedVolume[] }[],
  interfaces: number,
): number {
  // Each boots from a disk: a volume, or one of its host.
  const disks = machines.map(
    ({ volumes }) => 1 + volumes.filter(({ purpose }) => purpose !== "root").length,
  );
  return slots - Math.max(1, ...disks) - (interfaces - 1);
}

/** What scripts/volumes.sh reads of a volume: `PURPOSE ID PATH MODE UNIT`, or `root ID`. */
export function volumeLine(purpose: VolumePurpose, id: string): string {
  const mount = volumePurposes[purpose];
  return [purpose, id, ...(mount ? [mount.path, mount.mode, mount.unit] : [])].join(" ");
}

/** The same of all volumes of a machine, whose IDs are in the same order. */
export const volumeLines = (volumes: readonly PlannedVolume[], ids: readonly string[]): string =>
  volumes.map(({ purpose }, index) => volumeLine(purpose, ids[index] ?? "")).join("\n");
