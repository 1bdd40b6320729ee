import { doc, present, record, whole } from "./values.js";

const refused = (text: string, otherwise?: string) =>
  doc(
    "refused",
    `${text} For another one, make another pool, move the pods there and remove this one.`,
    otherwise,
  );

const volume = (what: string, least: number) =>
  record({
    size: whole(least, "a size in GiB").meta(refused(`Size of ${what} in GiB.`)),
    type: present("a volume type")
      .optional()
      .meta(refused(`Cinder volume type of ${what}.`, "Cinder's default type")),
    zone: present("an availability zone of Cinder")
      .optional()
      .meta(refused(`Cinder availability zone of ${what}.`, "Cinder's default zone")),
  }).optional();

/** Volumes that every machine of a group has; they come and go with its server. */
export const machineVolumes = {
  rootVolume: volume("the volume that the machine boots from, instead of a disk of its host", 4),
  runtimeVolume: volume("a volume of its own for /var/lib/containerd: images and containers", 1),
} as const;

/** Volumes of control planes. */
export const controlPlaneVolumes = {
  ...machineVolumes,
  etcdVolume: volume("a volume of its own for /var/lib/etcd", 1),
} as const;

/** As it is written. */
export interface WrittenVolume {
  readonly size: number;
  readonly type?: string | undefined;
  readonly zone?: string | undefined;
}
