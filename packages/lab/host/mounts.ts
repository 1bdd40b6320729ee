import { readFile } from "node:fs/promises";
import { run } from "../../../base/run-command.js";
import { listMountsBelow } from "./parse-mounts-and-devices.js";
import { removeWithRetries } from "./remove-with-retries.js";

/** Returns the mount points at or below a folder, in the order of unmounting. */
export const listMountPoints = async (folder: string): Promise<string[]> =>
  listMountsBelow(await readFile("/proc/self/mountinfo", "utf8"), folder);

export const isMounted = async (folder: string): Promise<boolean> =>
  (await listMountPoints(folder)).includes(folder);

/**
 * Unmounts one mount point. Retries, because the kernel releases the files of a killed container
 * with a delay.
 */
export const unmount = (point: string): Promise<void> =>
  removeWithRetries({
    name: `The mount ${point}`,
    isThere: () => isMounted(point),
    remove: () => run("umount", [point]),
    hint: `Find who uses it with 'fuser -vm ${point}', end it and run 'stackadm-lab down' again.`,
  });
