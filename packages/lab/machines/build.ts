import { existsSync } from "node:fs";
import { mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { withStep, type Progress, type Step } from "../../../base/progress.js";
import { run } from "../../../base/run-command.js";
import { runInLinuxNamespaces } from "../host/run-in-linux-namespaces.js";
import { buildDebianTree } from "../host/debian-tree.js";
import { convertToCloudImage, type TrustedAuthorities } from "../image/convert-to-cloud-image.js";
import { stockUnits, type DebianRelease } from "../image/stock.js";
import { computeInputKey } from "../input-key.js";
import type { LabPaths } from "../settings.js";
import {
  getMachineImageFiles,
  getMachineImageName,
  kernelCommandLine,
  machineImagePackages,
  partitionId,
  debianReleases,
} from "./debian-releases.js";

/** Commands of the host that build an image, and the Debian packages that contain them. */
export const imageCommands = {
  mmdebstrap: "mmdebstrap",
  "qemu-img": "qemu-utils",
  sfdisk: "fdisk",
  "mkfs.ext4": "e2fsprogs",
  setpriv: "util-linux",
} as const;

/**
 * Revision of the steps in this file. Increase the number when changed steps build a different
 * image from the same inputs.
 */
const revision = 1;

/** Image of virtual machines on this host. */
export interface MachineImage {
  readonly name: string;
  /** Digest of everything that determines the image's content. */
  readonly key: string;
  readonly version: string;
  readonly commandLine: string;
  /** Folder with disk.qcow2, vmlinuz and initrd.img. */
  readonly folder: string;
}

const cacheFolder = ({ cache }: LabPaths): string => join(cache, "machines");

export function getMachineImage(
  release: DebianRelease,
  paths: LabPaths,
  trusted: TrustedAuthorities,
): MachineImage {
  const inputs = [
    release,
    machineImagePackages,
    getMachineImageFiles(release),
    stockUnits,
    kernelCommandLine,
    partitionId,
    trusted,
  ];
  const key = computeInputKey(...inputs, revision);
  const name = getMachineImageName(release);
  const folder = join(cacheFolder(paths), `${name}-${key}`);
  return { name, key, version: release.version, commandLine: kernelCommandLine, folder };
}

export interface MachineImageBuildOptions {
  readonly paths: LabPaths;
  readonly trusted: TrustedAuthorities;
  readonly progress: Progress;
  readonly signal?: AbortSignal;
}

/**
 * Returns the images of all releases. The first call builds the images, later calls use the cache.
 * Deletes images with other keys.
 */
export async function ensureMachineImages(
  build: MachineImageBuildOptions,
): Promise<MachineImage[]> {
  const cache = cacheFolder(build.paths);
  await mkdir(cache, { recursive: true });
  const wanted = debianReleases.map((release) => ({
    release,
    image: getMachineImage(release, build.paths, build.trusted),
  }));
  const folders = wanted.map(({ image }) => image.folder);
  for (const name of await readdir(cache)) {
    const path = join(cache, name);
    if (name !== "lock" && !folders.includes(path)) await rm(path, { recursive: true });
  }
  for (const { release, image } of wanted) {
    if (existsSync(image.folder)) continue;
    await withStep(build.progress, `Image ${image.name}`, 50, (step) =>
      buildImage(release, image, { ...build, step }),
    );
  }
  return wanted.map(({ image }) => image);
}

type Building = MachineImageBuildOptions & { readonly step: Step };

async function buildImage(
  release: DebianRelease,
  { folder }: MachineImage,
  { trusted, step, signal }: Building,
): Promise<void> {
  const part = `${folder}.part`;
  const tree = join(part, "tree");
  await mkdir(tree, { recursive: true });
  await buildDebianTree({
    folder: tree,
    packages: machineImagePackages,
    suite: release.suite,
    step,
    ...(signal && { signal }),
  });
  await convertToCloudImage(tree, getMachineImageFiles(release), trusted);
  step.update("writing the disk");
  await copyKernelAndInitrd(tree, part);
  await writeDisk(tree, part, signal);
  await runInLinuxNamespaces("rm", ["-r", "--one-file-system", tree]);
  await rename(part, folder);
}

/**
 * Copies kernel and initrd next to the disk, under names without a version. The originals are kept
 * in the tree, because they belong to packages.
 */
async function copyKernelAndInitrd(tree: string, target: string): Promise<void> {
  const boot = join(tree, "boot");
  const names = await readdir(boot);
  for (const name of ["vmlinuz", "initrd.img"]) {
    const found = names.filter((one) => one.startsWith(`${name}-`));
    const [only] = found;
    if (only === undefined || found.length > 1)
      throw new Error(`${boot} has ${found.length} files ${name}-*, not one.`);
    await run("cp", [join(boot, only), join(target, name)]);
  }
}

const mebibyte = 2 ** 20;
const diskSize = 3072 * mebibyte;
/**
 * Size of the partition in bytes. The last mebibyte is left for the second copy of the partition
 * table.
 */
const partitionSize = diskSize - 2 * mebibyte;

/**
 * Writes the tree as the only partition of a disk. cloud-init grows the partition to the flavor's
 * size.
 */
async function writeDisk(tree: string, target: string, signal?: AbortSignal): Promise<void> {
  const raw = join(target, "disk.raw");
  const file = await open(raw, "w");
  await file.truncate(diskSize);
  await file.close();
  const table = `label: gpt\nstart=2048, size=${partitionSize / 512}, type=L, uuid=${partitionId}\n`;
  await run("sfdisk", ["--quiet", raw], { input: table });
  const options = { ...(signal && { signal }) };
  const layout = ["-L", "root", "-E", `offset=${mebibyte},lazy_itable_init=1`];
  await runInLinuxNamespaces(
    "mkfs.ext4",
    ["-q", "-d", tree, ...layout, raw, `${partitionSize / 1024}k`],
    options,
  );
  const disk = join(target, "disk.qcow2");
  await runInLinuxNamespaces("qemu-img", ["convert", "-O", "qcow2", raw, disk], options);
  await rm(raw);
}
