import { readFileSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Step } from "../../../base/progress.js";
import { ensureFrontAuthority, readFrontAuthorityCertificate } from "../front/authority.js";
import { runInLinuxNamespaces } from "../host/run-in-linux-namespaces.js";
import { createSubvolume, deleteSubvolume } from "../host/store.js";
import { buildDebianTree } from "../host/debian-tree.js";
import { computeInputKey } from "../input-key.js";
import { debianSuite } from "../packages.js";
import type { LabPaths } from "../settings.js";
import { convertToCloudImage } from "./convert-to-cloud-image.js";
import {
  getStockFiles,
  stockPackages,
  stockUnits,
  type ImageFile,
  type DebianRelease,
} from "./stock.js";

const cloudInitConfiguration = join(__dirname, "99-lab.cfg");

const release: DebianRelease = { suite: debianSuite, version: "12" };

/**
 * Dependencies of the packages of Kubernetes and containerd, and gnupg, which `prepare` would
 * install. In the image, they save every server the download. The published image has none of these
 * packages. Tests on emulated machines show that the program installs the packages that it needs.
 */
const additions: readonly string[] = [
  ..."conntrack socat ethtool ebtables iptables runc gnupg".split(" "),
];

/**
 * Packages of the server image. No unit has to be masked, because units that cannot work in a
 * container do not start there: systemd-udevd needs a writable /sys, systemd-timesyncd and
 * fstrim.timer start only outside containers. apt's timers run as on the machines of a cloud. Each
 * server adds a random delay, up to 12 h for the lists and up to 1 h for the upgrades, so they do
 * not all start at once.
 */
export const serverImagePackages: readonly string[] = [...stockPackages, ...additions];

const files = (): Readonly<Record<string, ImageFile>> => ({
  ...getStockFiles(release),
  "etc/cloud/cloud.cfg.d/99-lab.cfg": { content: readFileSync(cloudInitConfiguration, "utf8") },
});

/**
 * Revision of the steps in this file. Change: raise it when the steps produce a different image
 * from the same inputs.
 */
const revision = 4;

export const computeServerImageKey = (paths: Pick<LabPaths, "front">): string =>
  computeInputKey(
    ...[debianSuite, serverImagePackages, files(), stockUnits],
    ...[readFrontAuthorityCertificate(paths), revision],
  );

/**
 * Builds the server image, a compressed tar archive, and deletes earlier ones. The store must be
 * open.
 */
export async function buildServerImage(
  paths: LabPaths,
  step: Step,
  signal?: AbortSignal,
): Promise<void> {
  const file = getServerImageFile(paths);
  const tree = join(paths.store, `image-${computeServerImageKey(paths)}.part`);
  await deleteSubvolume(paths, tree);
  await createSubvolume(tree);
  await buildDebianTree({
    folder: tree,
    packages: serverImagePackages,
    step,
    ...(signal && { signal }),
  });
  await convertToCloudImage(tree, files(), [await ensureFrontAuthority(paths)]);
  step.update("packing the image");
  await rm(paths.images, { recursive: true, force: true });
  await mkdir(paths.images, { recursive: true });
  const tar = [
    "--create",
    "--numeric-owner",
    "--xattrs",
    "--xattrs-include=*",
    "--directory",
    tree,
  ];
  await runInLinuxNamespaces(
    "tar",
    [...tar, "--use-compress-program", "zstd -3 -T0", "--file", `${file}.part`, "."],
    { ...(signal && { signal }) },
  );
  await rename(`${file}.part`, file);
  await deleteSubvolume(paths, tree);
}

export const getServerImageFile = (paths: LabPaths): string =>
  join(paths.images, `debian-12-${computeServerImageKey(paths)}.tar.zst`);
