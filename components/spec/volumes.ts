import { doc, present, record, whole } from "../arguments/values.js";

/** What a pool can have in place of another volume; other groups cannot be made a second time. */
const anotherPool = "For another one, make another pool, move the pods there and remove this one.";
/** What is said for one machine of a group. */
const ofOne = "For this machine alone, in place of the group's, type and zone too.";

const volume = (what: string, least: number, more: string) => {
  const refused = (text: string, otherwise?: string) =>
    doc("refused", [text, more].filter(Boolean).join(" "), otherwise);
  return record({
    size: whole(least, "a size in GiB").meta(refused(`Size of ${what} in GiB.`)),
    type: present("a volume type")
      .optional()
      .meta(refused(`Cinder volume type of ${what}.`, "Cinder's default type")),
    zone: present("an availability zone of Cinder")
      .optional()
      .meta(refused(`Cinder availability zone of ${what}.`, "Cinder's default zone")),
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
export const workerVolumes = { all: machineVolumes(anotherPool), one: machineVolumes(ofOne) };

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
