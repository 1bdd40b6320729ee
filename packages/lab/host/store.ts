import { existsSync } from "node:fs";
import { chmod, mkdir, open, readFile, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { z } from "zod";
import { replaceFile } from "../../../base/atomic-files.js";
import { run } from "../../../base/run-command.js";
import type { LabPaths } from "../settings.js";
import { isCommandInstalled } from "./packages.js";
import { formatDeviceNumber, parseLoops, parseSubvolumes } from "./parse-mounts-and-devices.js";
import { isMounted, listMountPoints, unmount } from "./mounts.js";
import { removeWithRetries } from "./remove-with-retries.js";

/**
 * Size of the btrfs in bytes. The file is sparse: it grows with the data that is written and
 * shrinks with the data that is deleted.
 */
const size = 80 * 2 ** 30;

/**
 * Mount options. With `nobarrier`, a sync does not wait for the disk, because databases and etcd
 * sync often. A crash of the host may damage the store, so `openStore` checks the store.
 */
const options = "loop,noatime,discard=async,nobarrier";

/**
 * File with the host's boot ID. While the store is mounted, a copy of this file is next to the
 * store.
 */
const bootFile = "/proc/sys/kernel/random/boot_id";
const mark = (paths: LabPaths) => `${paths.storeFile}.boot`;

/** Reports whether the host has crashed while the store was mounted. */
export const hasHostCrashed = (marked: string | undefined, boot: string): boolean =>
  marked !== undefined && marked.trim() !== boot.trim();

/**
 * Mounts the store. Creates the store if it does not exist. Recreates a store that a crash of the
 * host has damaged: the store contains only caches.
 */
export async function openStore(paths: LabPaths): Promise<void> {
  await mkdir(paths.store, { recursive: true, mode: 0o700 });
  await mkdir(dirname(paths.mounted), { recursive: true });
  const { store, storeFile } = paths;
  replaceFile(paths.mounted, JSON.stringify({ store, storeFile }));
  if (await isMounted(paths.store)) return;
  const boot = await readFile(bootFile, "utf8");
  const marked = await readFile(mark(paths), "utf8").catch(() => undefined);
  const broken = hasHostCrashed(marked, boot) && !(await isSound(paths.storeFile));
  if (broken || !existsSync(paths.storeFile)) await makeStore(paths.storeFile);
  const handle = await open(mark(paths), "w");
  await handle.writeFile(boot);
  await handle.sync();
  await handle.close();
  await run("mount", ["-o", options, paths.storeFile, paths.store]);
  // Makes the folder readable by root only, because the clouds contain passwords. Processes inside
  // a cloud do not use this path.
  await chmod(paths.store, 0o700);
}

async function isSound(file: string): Promise<boolean> {
  if (!existsSync(file)) return false;
  const { code } = await run("btrfs", ["check", "--readonly", file], { accept: [0, 1] });
  return code === 0;
}

const mountedStore = z.object({ store: z.string(), storeFile: z.string() });

/**
 * Returns the paths of the store that this lab has mounted from another cache folder, or undefined.
 */
export async function findStrayStore(paths: LabPaths): Promise<LabPaths | undefined> {
  const text = await readFile(paths.mounted, "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  const found = mountedStore.parse(JSON.parse(text));
  return found.store === paths.store ? undefined : { ...paths, ...found };
}

/** Syncs the store's file to the disk, if the file exists. */
export async function flushStore(paths: LabPaths): Promise<void> {
  if (!existsSync(paths.storeFile)) return;
  const handle = await open(paths.storeFile, "r+");
  await handle.sync();
  await handle.close();
}

async function makeStore(file: string): Promise<void> {
  const part = `${file}.part`;
  await rm(part, { force: true });
  const handle = await open(part, "wx", 0o600);
  await handle.truncate(size);
  await handle.close();
  await run("mkfs.btrfs", ["--quiet", "--metadata", "single", part]);
  await rename(part, file);
}

/** Unmounts the store and all mounts below it. */
export async function closeStore(paths: LabPaths): Promise<void> {
  const points = await listMountPoints(paths.store);
  for (const point of points) await unmount(point);
  await rm(paths.mounted, { force: true });
  if (points.length === 0) return;
  await flushStore(paths);
  await rm(mark(paths), { force: true });
}

export const createSubvolume = (path: string) => run("btrfs", ["subvolume", "create", path]);

/** Returns the absolute paths of the subvolumes inside another subvolume. */
async function nested(paths: LabPaths, subvolume: string): Promise<string[]> {
  const { stdout } = await run("btrfs", ["subvolume", "list", paths.store]);
  return parseSubvolumes(stdout)
    .map((path) => join(paths.store, path))
    .filter((path) => path.startsWith(`${subvolume}/`));
}

/** Deletes a subvolume, if it exists, with the subvolumes inside it. */
export async function deleteSubvolume(paths: LabPaths, subvolume: string): Promise<void> {
  await removeWithRetries({
    name: `The btrfs subvolume ${subvolume}`,
    isThere: () => existsSync(subvolume),
    remove: async () => {
      const inside = await nested(paths, subvolume);
      for (const path of [...inside.sort((one, other) => other.length - one.length), subvolume]) {
        await run("btrfs", ["subvolume", "delete", path]);
      }
    },
  });
}

/**
 * Creates snapshots of a subvolume and of the subvolumes inside it. Snapshots take no time and no
 * space.
 */
export async function snapshotSubvolume(paths: LabPaths, from: string, to: string): Promise<void> {
  await run("btrfs", ["subvolume", "snapshot", from, to]);
  const inside = await nested(paths, from);
  for (const path of inside.sort((one, other) => one.length - other.length)) {
    const copy = join(to, path.slice(from.length));
    // In a snapshot, a nested subvolume is an empty folder. Replaces this folder by a snapshot.
    await rm(copy, { recursive: true, force: true });
    await run("btrfs", ["subvolume", "snapshot", path, copy]);
  }
}

export const listTopSubvolumes = async (paths: LabPaths): Promise<string[]> => {
  const { stdout } = await run("btrfs", ["subvolume", "list", paths.store]);
  return parseSubvolumes(stdout).filter((path) => path === basename(path));
};

/**
 * Detaches loop devices whose file is in a subvolume. Such loop devices belong to volumes that were
 * never detached from their servers.
 */
export async function releaseLoopDevices(subvolume: string): Promise<void> {
  for (const name of await listLoopDevices(subvolume)) {
    await removeWithRetries({
      name: `The loop device ${name}`,
      isThere: async () => (await listLoopDevices(subvolume)).includes(name),
      remove: () => run("losetup", ["--detach", name]),
    });
  }
}

export async function listLoopDevices(subvolume: string): Promise<string[]> {
  if (!existsSync(subvolume) || !isCommandInstalled("losetup")) return [];
  const device = formatDeviceNumber((await stat(subvolume, { bigint: true })).dev);
  const { stdout } = await run("losetup", ["--json", "--output", "NAME,BACK-FILE,BACK-MAJ:MIN"]);
  return parseLoops(stdout)
    .filter(({ fileDevice }) => fileDevice === device)
    .map(({ name }) => name);
}
