import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { writeWhole } from "../../base/files.js";

/**
 * Kernel settings of the whole host that the lab needs, by path below /proc/sys, and the least value each.
 * The inotify limits are shared by all servers: with Debian's 128 instances kube-proxy ends with "too many open files"
 * on the second Kubernetes node.
 */
export const neededSettings: Readonly<Record<string, number>> = {
  "net/ipv4/ip_forward": 1,
  "fs/inotify/max_user_instances": 8192,
  "fs/inotify/max_user_watches": 524_288,
};

/** What is below what is needed. */
export const tooLow = (
  current: Readonly<Record<string, number>>,
  needed: Readonly<Record<string, number>> = neededSettings,
): string[] => Object.keys(needed).filter((key) => (current[key] ?? 0) < (needed[key] ?? 0));

async function readSettings(root: string): Promise<Record<string, number>> {
  const values = Object.keys(neededSettings).map(async (key): Promise<[string, number]> => {
    return [key, Number(await readFile(join(root, key), "utf8"))];
  });
  return Object.fromEntries(await Promise.all(values));
}

/** Where the labs of this host keep what they share: `before`, and an entry of each one's name in `labs` as long as it needs it. */
export interface SharedSettings {
  readonly folder: string;
  /** Which lab it is. */
  readonly lab: string;
  /** Default: /proc/sys. */
  readonly root?: string;
}

const placesIn = (folder: string) => ({
  before: join(folder, "before"),
  labs: join(folder, "labs"),
});

/** Raises what is too low, and remembers what it was, and who needs it. */
export async function raiseKernelSettings(shared: SharedSettings): Promise<void> {
  const { folder, lab, root = "/proc/sys" } = shared;
  const { before, labs } = placesIn(folder);
  await mkdir(labs, { recursive: true });
  await writeFile(join(labs, lab), "");
  const current = await readSettings(root);
  const low = tooLow(current);
  if (low.length === 0) return;
  const earlier = existsSync(before) ? await readFile(before, "utf8") : "";
  const lines = low.map((key) => `${key} ${current[key] ?? 0}\n`);
  writeWhole(before, earlier + lines.join(""));
  for (const key of low) await writeFile(join(root, key), `${neededSettings[key] ?? 0}`);
}

/** Puts back what `raiseKernelSettings` remembered; the last lab that needs it does. */
export async function restoreKernelSettings(shared: SharedSettings): Promise<void> {
  const { folder, lab, root = "/proc/sys" } = shared;
  const { before, labs } = placesIn(folder);
  await rm(join(labs, lab), { force: true });
  if (existsSync(labs) && (await readdir(labs)).length > 0) return;
  const text = existsSync(before) ? await readFile(before, "utf8") : "";
  // The oldest line of a setting has what it was before any lab.
  for (const line of text.split("\n").reverse()) {
    const [key = "", value = ""] = line.split(" ");
    if (key in neededSettings) await writeFile(join(root, key), value);
  }
  await rm(folder, { recursive: true, force: true });
}
