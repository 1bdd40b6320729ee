import { existsSync } from "node:fs";
import { readdir, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * Share of the processors. Without a service manager all programs of the host run in the root control group, and
 * the whole cloud, being a group, would count as much as any single one of them; it gets as much as eight.
 */
const programs = 8;

/** True where systemd runs the host: it divides the processors among slices, and podman's is one of them. */
const hostHasSystemd = (): boolean => existsSync("/run/systemd/system");

/** The lab's own parent control group; none where systemd owns the tree. */
export const cgroupParent = (name: string, systemd = hostHasSystemd()): string | undefined =>
  systemd ? undefined : name;

/** Setting that gives a control group the weight of `count` programs, in version 1 (`cpu.shares`) or 2 (`cpu.weight`). */
export const weightFiles = (name: string, count: number): readonly [string, string][] => [
  [join("/sys/fs/cgroup/cpu", name, "cpu.shares"), String(count * 1024)],
  [join("/sys/fs/cgroup", name, "cpu.weight"), String(count * 100)],
];

/** Gives the lab's parent group its weight. The container must have been started in it. */
export async function raiseCpuWeight(name: string): Promise<void> {
  for (const [file, value] of weightFiles(name, programs)) {
    if (existsSync(file)) await writeFile(file, value);
  }
}

/** The lab's parent group in every hierarchy it is in. */
export async function cgroupFolders(name: string): Promise<string[]> {
  const root = "/sys/fs/cgroup";
  if (!existsSync(root)) return [];
  const hierarchies = await readdir(root, { withFileTypes: true });
  return [join(root, name), ...hierarchies.map((entry) => join(root, entry.name, name))].filter(
    existsSync,
  );
}

/** Removes the group with everything below it. No process may be left in it. */
export async function removeCgroups(name: string): Promise<void> {
  for (const folder of await cgroupFolders(name)) await removeGroup(folder);
}

/** Control groups are removed from the leaves up; their files go with them. */
async function removeGroup(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await removeGroup(join(folder, entry.name));
  }
  await rmdir(folder);
}
