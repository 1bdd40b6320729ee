import { existsSync } from "node:fs";
import { readdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { removeWithRetries } from "./remove-with-retries.js";

/**
 * CPU weight of the cloud, as a number of processes. Without systemd, all processes of the host run
 * in the root control group. There, the cloud's control group would get only as much CPU time as
 * one process.
 */
const cloudCpuWeight = 8;

/**
 * Reports whether systemd manages the host. If so, systemd divides the CPU among slices, and
 * podman's containers are in one of these slices.
 */
const hostHasSystemd = (): boolean => existsSync("/run/systemd/system");

/** Returns the lab's parent control group, or undefined if systemd manages the control groups. */
export const getCgroupParent = (name: string, systemd = hostHasSystemd()): string | undefined =>
  systemd ? undefined : name;

/**
 * Returns the files and values that give a control group the weight of `count` programs, in version
 * 1 (`cpu.shares`) or 2 (`cpu.weight`).
 */
export const listCpuWeightFiles = (name: string, count: number): readonly [string, string][] => [
  [join("/sys/fs/cgroup/cpu", name, "cpu.shares"), String(count * 1024)],
  [join("/sys/fs/cgroup", name, "cpu.weight"), String(count * 100)],
];

/**
 * Sets the weight of the lab's parent group. The container must have been started in this group.
 */
export async function raiseCpuWeight(name: string): Promise<void> {
  for (const [file, value] of listCpuWeightFiles(name, cloudCpuWeight)) {
    if (existsSync(file)) await writeFile(file, value);
  }
}

const cgroups = "/sys/fs/cgroup";

/** Returns the folders of the lab's parent group in all hierarchies. */
export async function listCgroupFolders(name: string, root = cgroups): Promise<string[]> {
  if (!existsSync(root)) return [];
  const hierarchies = await readdir(root, { withFileTypes: true });
  return [join(root, name), ...hierarchies.map((entry) => join(root, entry.name, name))].filter(
    existsSync,
  );
}

export interface RemoveCgroupsOptions {
  /** Folder of the control groups. @default /sys/fs/cgroup */
  readonly root?: string;
  /** Function that removes one group. @default rmdir */
  readonly remove?: (folder: string) => Promise<unknown>;
  /** Time in milliseconds to wait for the processes in a group. @default the limit of `removeWithRetries` */
  readonly boundMs?: number | undefined;
}

/**
 * Removes the control group and its subgroups. Waits for podman's monitor process (conmon), which
 * runs in this group and may end after `podman rm` has returned.
 */
export async function removeCgroups(
  name: string,
  { root = cgroups, remove = rmdir, boundMs }: RemoveCgroupsOptions = {},
): Promise<void> {
  for (const folder of await listCgroupFolders(name, root)) {
    const group = {
      name: `The control group ${folder}`,
      isThere: () => existsSync(folder),
      remove: () => removeGroup(folder, remove),
      kept: async () => {
        const processes = await processesIn(folder);
        return processes.length > 0 ? `${processes.join(", ")} in it.` : undefined;
      },
    };
    await removeWithRetries(group, boundMs);
  }
}

const subgroups = async (folder: string): Promise<string[]> => {
  const entries = await readdir(folder, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(folder, name));
};

/** Removes the subgroups first, because rmdir refuses a control group with subgroups. */
async function removeGroup(folder: string, remove: (folder: string) => Promise<unknown>) {
  for (const group of await subgroups(folder)) await removeGroup(group, remove);
  await remove(folder);
}

/**
 * Returns the processes in a group and below it, as "conmon (process 4711)". Ignores groups and
 * processes that end during the call.
 */
async function processesIn(folder: string): Promise<string[]> {
  const text = (file: string) => readFile(file, "utf8").catch(() => "");
  const ids = (await text(join(folder, "cgroup.procs"))).split("\n").filter((id) => id !== "");
  const here = ids.map(async (id) => `${(await text(`/proc/${id}/comm`)).trim()} (process ${id})`);
  const groups = await subgroups(folder).catch(() => []);
  return [...(await Promise.all(here)), ...(await Promise.all(groups.map(processesIn))).flat()];
}
