import {
  machineZonePlaceholder,
  type WrittenVolume,
  type WrittenVolumes,
} from "../config/machines/volumes.js";

/** Mount of a volume: path, mode, and the service that must not start without the mount. */
interface Mount {
  readonly path: string;
  readonly mode: string;
  /** Name, without `.service`, of the systemd service that stores its data on the volume. */
  readonly unit: string;
}

/**
 * Mount of each volume, by the volume's purpose. The root volume has none: the machine boots from
 * it.
 */
export const volumePurposes = {
  root: undefined,
  runtime: { path: "/var/lib/containerd", mode: "0711", unit: "containerd" },
  // kubelet starts etcd. Without the mount, etcd would start without its data on the root disk.
  etcd: { path: "/var/lib/etcd", mode: "0700", unit: "kubelet" },
} as const satisfies Readonly<Record<string, Mount | undefined>>;
export type VolumePurpose = keyof typeof volumePurposes;

export interface PlannedVolume extends WrittenVolume {
  readonly purpose: VolumePurpose;
  /** Name in Cinder. */
  readonly name: string;
}

/** Returns the volume with the machine's zone (`machines`) in place of the placeholder. */
const placed = ({ zone, ...volume }: WrittenVolume, machines = ""): WrittenVolume => ({
  ...volume,
  ...(zone !== undefined && { zone: zone.replaceAll(machineZonePlaceholder, machines) }),
});

/**
 * Returns the volumes of a machine, the root volume first. A volume of the machine (`own`) replaces
 * the volume of the group with the same purpose. `zone` is the machine's zone;
 * config/machines/volumes.ts requires a zone if a volume refers to it.
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
 * Number of disks of a KVM machine with virtio-blk, where each disk takes a slot of the PCI bus.
 * The bus has 32 slots, of which some seven are for the chipset, the display, the network, the
 * memory balloon, random numbers and the serial port.
 */
const slots = 25;

/**
 * Returns how many further volumes each machine can attach. All nodes report the same number, so
 * the machine with most volumes decides. `interfaces` is the number of network interfaces of a
 * machine; the second interface also takes a slot.
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
 * Returns the line of a volume for machine/scripts/prepare/mount-volumes.sh: `PURPOSE ID PATH MODE
 * UNIT`, or `root ID`.
 */
export function volumeLine(purpose: VolumePurpose, id: string): string {
  const mount = volumePurposes[purpose];
  return [purpose, id, ...(mount ? [mount.path, mount.mode, mount.unit] : [])].join(" ");
}

/** Returns the lines of all volumes of a machine. `ids` are the IDs in the order of `volumes`. */
export const volumeLines = (volumes: readonly PlannedVolume[], ids: readonly string[]): string =>
  volumes.map(({ purpose }, index) => volumeLine(purpose, ids[index] ?? "")).join("\n");
