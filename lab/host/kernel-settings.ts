import { existsSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
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

/** Raises what is too low, and remembers in `file` what it was. */
export async function raiseKernelSettings(file: string, root = "/proc/sys"): Promise<void> {
  const current = await readSettings(root);
  const low = tooLow(current);
  if (low.length === 0) return;
  const earlier = existsSync(file) ? await readFile(file, "utf8") : "";
  const lines = low.map((key) => `${key} ${current[key] ?? 0}\n`);
  writeWhole(file, earlier + lines.join(""));
  for (const key of low) await writeFile(join(root, key), `${neededSettings[key] ?? 0}`);
}

/** Puts back what `raiseKernelSettings` remembered. */
export async function restoreKernelSettings(file: string, root = "/proc/sys"): Promise<void> {
  if (!existsSync(file)) return;
  const lines = (await readFile(file, "utf8")).split("\n").filter((line) => line !== "");
  // The oldest line of a setting has what it was before any lab.
  for (const line of lines.reverse()) {
    const [key = "", value = ""] = line.split(" ");
    if (key in neededSettings) await writeFile(join(root, key), value);
  }
  await rm(file);
}
