import { machinesZone, type WrittenVolume, type WrittenVolumes } from "../spec/volumes.js";

/** Mount of a volume: path, mode, and the service that must not start without it. */
interface Mount {
  readonly path: string;
  readonly mode: string;
  /** Name of the systemd service, without `.service`. */
  readonly unit: string;
}

/**
 * Purposes of volumes, one row each. The program does not mount the root volume: the machine boots
 * from it.
 */
export const volumePurposes = {
  root: undefined,
  runtime: { path: "/var/lib/containerd", mode: "0711", unit: "containerd" },
  // kubelet starts etcd, which would otherwise begin empty on the machine's own disk.
  etcd: { path: "/var/lib/etcd", mode: "0700", unit: "kubelet" },
} as const satisfies Readonly<Record<string, Mount | undefined>>;
export type VolumePurpose = keyof typeof volumePurposes;

export interface PlannedVolume extends WrittenVolume {
  readonly purpose: VolumePurpose;
  /** Name in Cinder. */
  readonly name: string;
}

/** Returns the volume with the machine's zone instead of the placeholder. */
const placed = ({ zone, ...volume }: WrittenVolume, machines = ""): WrittenVolume => ({
  ...volume,
  ...(zone !== undefined && { zone: zone.replaceAll(machinesZone, machines) }),
});

/**
 * Returns the volumes of a machine, the root volume first. Volumes that are written for the machine
 * replace those of its group. `zone` is the machine's; it is set if a volume refers to it
 * (spec/volumes.ts).
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
 * Slots for disks of a KVM machine with virtio-blk, one for each disk. Its PCI bus has 32, of which
 * some seven are for the chipset, the display, the network, the memory balloon, random numbers and
 * the serial port.
 */
const slots = 25;

/**
 * Returns how many further volumes each machine can attach. All nodes report the same number, so
 * the machine with most volumes decides. `interfaces`: how many a machine has; the second takes a
 * slot, too.
 */
export function attachableVolumes(
  machines: readonly { readonly volumes: readonly PlannedVolume[] }[],
  interfaces: number,
): number {
  // Each machine boots from one disk: a volume, or a disk of its host.
  const disks = machines.map(
    ({ volumes }) => 1 + volumes.filter(({ purpose }) => purpose !== "root").length,
  );
  return slots - Math.max(1, ...disks) - (interfaces - 1);
}

/**
 * Returns the line of a volume for scripts/volumes.sh: `PURPOSE ID PATH MODE UNIT`, or `root ID`.
 */
export function volumeLine(purpose: VolumePurpose, id: string): string {
  const mount = volumePurposes[purpose];
  return [purpose, id, ...(mount ? [mount.path, mount.mode, mount.unit] : [])].join(" ");
}

/** Returns the lines of all volumes of a machine; `ids` has the same order. */
export const volumeLines = (volumes: readonly PlannedVolume[], ids: readonly string[]): string =>
  volumes.map(({ purpose }, index) => volumeLine(purpose, ids[index] ?? "")).join("\n");
