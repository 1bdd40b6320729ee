import {
  machineZonePlaceholder,
  type VolumeSpec,
  type VolumeSpecs,
} from "../config/machines/volumes.js";

/** Mount point of a volume, with its mode and the service that must not start before the mount. */
interface Mount {
  readonly path: string;
  readonly mode: string;
  /** Name of the systemd service that stores its data on the volume, without `.service`. */
  readonly unit: string;
}

/**
 * Mount point of each volume, by the volume's purpose. The root volume has no mount point, because
 * the machine boots from this volume.
 */
export const mountsByVolumePurpose = {
  root: undefined,
  runtime: { path: "/var/lib/containerd", mode: "0711", unit: "containerd" },
  // kubelet starts etcd. Before the mount, etcd would start on the root disk, without its data.
  etcd: { path: "/var/lib/etcd", mode: "0700", unit: "kubelet" },
} as const satisfies Readonly<Record<string, Mount | undefined>>;
export type VolumePurpose = keyof typeof mountsByVolumePurpose;

export interface PlannedVolume extends VolumeSpec {
  readonly purpose: VolumePurpose;
  /** Name in Cinder. */
  readonly name: string;
}

/**
 * Returns the volume. The machine's zone (`machines`) replaces the placeholder in the volume's
 * zone.
 */
const placed = ({ zone, ...volume }: VolumeSpec, machines = ""): VolumeSpec => ({
  ...volume,
  ...(zone !== undefined && { zone: zone.replaceAll(machineZonePlaceholder, machines) }),
});

/**
 * Returns the volumes of a machine, the root volume first. A volume that the user sets for this
 * machine (`own`) replaces the group's volume with the same purpose. `zone` is the zone of the
 * machine. If `zone` is undefined, no volume contains the placeholder for the zone
 * (config/machines/volumes.ts).
 */
export const planMachineVolumes = (
  { name: machine, zone }: { readonly name: string; readonly zone: string | undefined },
  own: VolumeSpecs,
  group: VolumeSpecs,
): readonly PlannedVolume[] =>
  (Object.keys(mountsByVolumePurpose) as VolumePurpose[]).flatMap((purpose) => {
    const volume = own[`${purpose}Volume`] ?? group[`${purpose}Volume`];
    return volume ? [{ ...placed(volume, zone), purpose, name: `${machine}-${purpose}` }] : [];
  });

/**
 * Number of disks that a KVM machine with virtio-blk can have, where each disk takes a slot of the
 * PCI bus. The bus has 32 slots. About seven slots are for the chipset, display, network, memory
 * balloon, random numbers and serial port.
 */
const slots = 25;

/**
 * Returns how many volumes a node can attach in addition to its own volumes. All nodes report the
 * same number, so the number fits the machine with the most own volumes. `interfaces` is the number
 * of network interfaces of a machine, because a second interface also takes a slot.
 */
export function countAttachableVolumes(
  machines: readonly { readonly volumes: readonly PlannedVolume[] }[],
  interfaces: number,
): number {
  // Each machine has one boot disk: the root volume, or a disk of its host.
  const disks = machines.map(
    ({ volumes }) => 1 + volumes.filter(({ purpose }) => purpose !== "root").length,
  );
  return slots - Math.max(1, ...disks) - (interfaces - 1);
}

/**
 * Returns the line of a volume for machine/scripts/prepare/mount-volumes.sh:
 * `PURPOSE ID PATH MODE UNIT`, or `root ID` for the root volume.
 */
export function renderVolumeLine(purpose: VolumePurpose, id: string): string {
  const mount = mountsByVolumePurpose[purpose];
  return [purpose, id, ...(mount ? [mount.path, mount.mode, mount.unit] : [])].join(" ");
}

/** Returns the lines of all volumes of a machine. `ids` are the IDs in the order of `volumes`. */
export const renderVolumeLines = (
  volumes: readonly PlannedVolume[],
  ids: readonly string[],
): string =>
  volumes.map(({ purpose }, index) => renderVolumeLine(purpose, ids[index] ?? "")).join("\n");
