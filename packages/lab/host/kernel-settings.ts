import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { replaceFile } from "../../../base/atomic-files.js";

/**
 * Kernel settings of the whole host that the lab needs. A map from a path below /proc/sys to the
 * minimum value. All servers share the inotify limits. With Debian's 128 instances, kube-proxy on
 * the second Kubernetes node exits with "too many open files".
 */
export const requiredKernelSettings: Readonly<Record<string, number>> = {
  "net/ipv4/ip_forward": 1,
  "fs/inotify/max_user_instances": 8192,
  "fs/inotify/max_user_watches": 524_288,
};

/** Returns the settings whose value is too low. */
export const findTooLowSettings = (
  current: Readonly<Record<string, number>>,
  needed: Readonly<Record<string, number>> = requiredKernelSettings,
): string[] => Object.keys(needed).filter((key) => (current[key] ?? 0) < (needed[key] ?? 0));

async function readSettings(root: string): Promise<Record<string, number>> {
  const values = Object.keys(requiredKernelSettings).map(async (key): Promise<[string, number]> => {
    return [key, Number(await readFile(join(root, key), "utf8"))];
  });
  return Object.fromEntries(await Promise.all(values));
}

/**
 * Location of the records that all labs of this host share. In `folder`, the file `before` has the
 * original values, and the folder `labs` has a file for each lab that needs the settings.
 */
export interface SharedKernelSettings {
  readonly folder: string;
  /** Name of the lab. */
  readonly lab: string;
  /** Folder of the settings. @default /proc/sys */
  readonly root?: string;
}

const placesIn = (folder: string) => ({
  before: join(folder, "before"),
  labs: join(folder, "labs"),
});

/** Raises settings that are too low. Records their original values and the lab that needs them. */
export async function raiseKernelSettings(shared: SharedKernelSettings): Promise<void> {
  const { folder, lab, root = "/proc/sys" } = shared;
  const { before, labs } = placesIn(folder);
  await mkdir(labs, { recursive: true });
  await writeFile(join(labs, lab), "");
  const current = await readSettings(root);
  const low = findTooLowSettings(current);
  if (low.length === 0) return;
  const earlier = existsSync(before) ? await readFile(before, "utf8") : "";
  const lines = low.map((key) => `${key} ${current[key] ?? 0}\n`);
  replaceFile(before, earlier + lines.join(""));
  for (const key of low) await writeFile(join(root, key), `${requiredKernelSettings[key] ?? 0}`);
}

/**
 * Restores the values that `raiseKernelSettings` recorded, unless another lab still needs the
 * settings.
 */
export async function restoreKernelSettings(shared: SharedKernelSettings): Promise<void> {
  const { folder, lab, root = "/proc/sys" } = shared;
  const { before, labs } = placesIn(folder);
  await rm(join(labs, lab), { force: true });
  if (existsSync(labs) && (await readdir(labs)).length > 0) return;
  const text = existsSync(before) ? await readFile(before, "utf8") : "";
  // Writes the lines in reverse order: the first line of a setting has the value before any lab.
  for (const line of text.split("\n").reverse()) {
    const [key = "", value = ""] = line.split(" ");
    if (key in requiredKernelSettings) await writeFile(join(root, key), value);
  }
  await rm(folder, { recursive: true, force: true });
}
