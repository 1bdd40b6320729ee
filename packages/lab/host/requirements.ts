import { existsSync } from "node:fs";
import { readFile, statfs } from "node:fs/promises";
import { run } from "../../../base/run-command.js";
import { Failure } from "../../../base/failures/failure.js";
import type { LabPaths } from "../settings.js";
import { removeNetworkNamespace } from "./set-up-network.js";

/** Facts about a host, read by `readHost` and checked by `listMissingRequirements`. */
export interface HostFacts {
  readonly platform: string;
  readonly root: boolean;
  /** Content of /proc/filesystems. */
  readonly filesystems: string;
  readonly loopControl: boolean;
  readonly cgroups: boolean;
  /** Available memory in MiB. */
  readonly memory: number;
  /** Free disk space in GiB, on the file system of the cache folder. */
  readonly disk: number;
  /**
   * Error of the attempt to create the network links that the cloud needs. Undefined if the attempt
   * succeeded.
   */
  readonly links?: string;
}

/** Required memory in MiB. The idle cloud takes up to 4.5 GB, a small cluster in it 3 GB more. */
const neededMemory = 6 * 1024;
/**
 * Required disk space in GiB, for package trees, golden cloud, image and the servers of a cluster.
 */
const neededDisk = 15;

/** Returns a sentence for everything that the host lacks. */
export function listMissingRequirements(host: HostFacts): string[] {
  const has = (name: string) => new RegExp(`\\b${name}$`, "m").test(host.filesystems);
  const checks: [boolean, string][] = [
    [host.platform === "linux", `Linux (this is ${host.platform})`],
    [host.root, "root (run it with sudo)"],
    [has("btrfs"), "btrfs in the kernel (try 'modprobe btrfs')"],
    [has("overlay"), "overlayfs in the kernel (containers in the servers need it)"],
    [host.loopControl, "loop devices (/dev/loop-control is not there; try 'modprobe loop')"],
    [host.cgroups, "control groups (nothing is mounted at /sys/fs/cgroup)"],
    [
      host.memory >= neededMemory,
      `${neededMemory} MiB of available memory (there are ${host.memory})`,
    ],
    [host.disk >= neededDisk, `${neededDisk} GiB of free disk (there are ${host.disk})`],
    [
      host.links === undefined,
      `network namespaces with veth, vxlan and bridges (${host.links ?? ""})`,
    ],
  ];
  return checks.filter(([fulfilled]) => !fulfilled).map(([, sentence]) => sentence);
}

type ProbePaths = Pick<LabPaths, "cache" | "namespaces">;

/** Creates the kinds of links that the cloud needs in a temporary namespace. Returns the error. */
async function tryLinks(paths: ProbePaths): Promise<string | undefined> {
  const name = "stackadm-probe";
  const inside = (...words: string[]) => run("ip", ["-n", name, "link", "add", ...words]);
  try {
    await run("ip", ["netns", "add", name]);
    await inside("probe0", "type", "veth", "peer", "name", "probe1");
    await inside("probe2", "type", "bridge");
    await inside("probe3", "type", "vxlan", "id", "7", "local", "127.0.0.1", "dstport", "8472");
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    await removeNetworkNamespace(name, paths);
  }
}

/**
 * Reads the facts about the host. `cache` is an existing folder on the disk that will contain the
 * lab.
 */
export async function readHost(paths: ProbePaths): Promise<HostFacts> {
  const text = (file: string) => readFile(file, "utf8").catch(() => "");
  const root = process.getuid?.() === 0;
  if (root && !(await text("/proc/filesystems")).includes("btrfs")) {
    // Ignores errors of modprobe. `listMissingRequirements` reports later that btrfs is missing.
    await run("modprobe", ["btrfs"], { accept: [0, 1] }).catch(() => undefined);
  }
  const disk = await statfs(paths.cache);
  const links = root && process.platform === "linux" ? await tryLinks(paths) : undefined;
  return {
    platform: process.platform,
    root,
    filesystems: await text("/proc/filesystems"),
    loopControl: existsSync("/dev/loop-control"),
    cgroups: existsSync("/sys/fs/cgroup/cgroup.controllers") || existsSync("/sys/fs/cgroup/memory"),
    memory: Math.floor(
      Number(/^MemAvailable:\s+(\d+)/m.exec(await text("/proc/meminfo"))?.[1] ?? 0) / 1024,
    ),
    disk: Math.floor((disk.bavail * disk.bsize) / 2 ** 30),
    ...(links !== undefined && { links }),
  };
}

/** Throws one error with everything that the host lacks. */
export async function checkHost(paths: ProbePaths): Promise<void> {
  const lacking = listMissingRequirements(await readHost(paths));
  if (lacking.length > 0) {
    throw new Failure(
      "FAILED",
      `This host cannot run the lab; it lacks: ${lacking.join("; ")}.`,
      "Use a Debian 12 machine (root, 2 cores, 12 GB), or set OS_CLOUD to a cloud you have.",
    );
  }
}
