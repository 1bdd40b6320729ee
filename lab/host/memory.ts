import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { containerPid } from "./container.js";

/** Folders of a process's memory control group, version 1 and 2, from /proc/<pid>/cgroup. */
export function memoryGroups(text: string): string[] {
  // systemd puts itself into init.scope; what counts is the group above it.
  const above = (path: string) => path.replace(/\/init\.scope$/, "");
  return text.split("\n").flatMap((line) => {
    const [, controllers = "", path = ""] = line.split(":");
    if (controllers.split(",").includes("memory"))
      return [join("/sys/fs/cgroup/memory", above(path))];
    return line.startsWith("0::") ? [join("/sys/fs/cgroup", above(path))] : [];
  });
}

/** Resident memory without page cache, MiB, from a group's memory.stat; undefined when it does not say. */
export function residentOf(stat: string): number | undefined {
  const bytes = /^(?:total_rss|anon) (\d+)$/m.exec(stat)?.[1];
  return bytes === undefined ? undefined : Math.round(Number(bytes) / 2 ** 20);
}

/** Resident memory of everything in a container, its servers included, MiB. */
export async function residentMemory(container: string): Promise<number | undefined> {
  const text = await readFile(`/proc/${await containerPid(container)}/cgroup`, "utf8");
  for (const folder of memoryGroups(text)) {
    const file = join(folder, "memory.stat");
    const resident = existsSync(file) ? residentOf(await readFile(file, "utf8")) : undefined;
    if (resident !== undefined) return resident;
  }
  return undefined;
}
