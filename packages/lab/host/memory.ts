import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { getContainerPid } from "./container.js";

/**
 * Returns the folders of a process's memory control group, versions 1 and 2, from
 * /proc/<pid>/cgroup.
 */
export function parseMemoryCgroups(text: string): string[] {
  // init.scope contains only systemd. Its parent group contains all processes.
  const above = (path: string) => path.replace(/\/init\.scope$/, "");
  return text.split("\n").flatMap((line) => {
    const [, controllers = "", path = ""] = line.split(":");
    if (controllers.split(",").includes("memory"))
      return [join("/sys/fs/cgroup/memory", above(path))];
    return line.startsWith("0::") ? [join("/sys/fs/cgroup", above(path))] : [];
  });
}

/**
 * Returns the resident memory in MiB, without page cache, from a group's memory.stat. Returns
 * undefined if the text has no such value.
 */
export function parseResidentMemory(stat: string): number | undefined {
  const bytes = /^(?:total_rss|anon) (\d+)$/m.exec(stat)?.[1];
  return bytes === undefined ? undefined : Math.round(Number(bytes) / 2 ** 20);
}

/** Returns the resident memory of everything in a container, including its servers, in MiB. */
export async function readResidentMemory(container: string): Promise<number | undefined> {
  const text = await readFile(`/proc/${await getContainerPid(container)}/cgroup`, "utf8");
  for (const folder of parseMemoryCgroups(text)) {
    const file = join(folder, "memory.stat");
    const resident = existsSync(file)
      ? parseResidentMemory(await readFile(file, "utf8"))
      : undefined;
    if (resident !== undefined) return resident;
  }
  return undefined;
}
