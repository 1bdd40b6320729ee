/** Mounted file system, from /proc/self/mountinfo. */
export interface Mount {
  readonly point: string;
  readonly type: string;
}

const unescape = (text: string): string =>
  text.replaceAll(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(parseInt(octal, 8)));

export function parseMountinfo(text: string): Mount[] {
  return text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => {
      const words = line.split(" ");
      return { point: unescape(words[4] ?? ""), type: words[words.indexOf("-") + 1] ?? "" };
    });
}

/**
 * Returns the mount points at or below a folder in the order of unmounting: the deepest and newest
 * mount first.
 */
export function listMountsBelow(mountinfo: string, folder: string): string[] {
  return parseMountinfo(mountinfo)
    .map(({ point }) => point)
    .filter((point) => point === folder || point.startsWith(`${folder}/`))
    .reverse()
    .sort((one, other) => other.split("/").length - one.split("/").length);
}

/** Loop device, from `losetup --json --output NAME,BACK-FILE,BACK-MAJ:MIN`. */
export interface LoopDevice {
  readonly name: string;
  readonly file: string;
  /**
   * Device number "major:minor" of the file system (on btrfs: of the subvolume) that contains the
   * file.
   */
  readonly fileDevice: string;
}

export function parseLoops(json: string): LoopDevice[] {
  if (json.trim() === "") return [];
  const { loopdevices } = JSON.parse(json) as {
    loopdevices: { name: string; "back-file"?: string | null; "back-maj:min"?: string | null }[];
  };
  return loopdevices.map((loop) => ({
    name: loop.name,
    file: loop["back-file"] ?? "",
    fileDevice: (loop["back-maj:min"] ?? "").replaceAll(/\s/g, ""),
  }));
}

/**
 * Returns the paths of all subvolumes of a btrfs, from the output of `btrfs subvolume list
 * <mount>`.
 */
export function parseSubvolumes(text: string): string[] {
  return text
    .split("\n")
    .map((line) => /^ID \d+ gen \d+ top level \d+ path (.+)$/.exec(line)?.[1])
    .filter((path) => path !== undefined);
}

/** Formats a `dev` number of stat as "major:minor", like the kernel. */
export function formatDeviceNumber(dev: number | bigint): string {
  const number = BigInt(dev);
  const major = ((number >> 8n) & 0xfffn) | ((number >> 32n) & ~0xfffn);
  const minor = (number & 0xffn) | ((number >> 12n) & 0xffffff00n);
  return `${String(major)}:${String(minor)}`;
}
