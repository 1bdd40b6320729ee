import { readFileSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Step } from "../../../base/progress.js";
import { ensureFrontAuthority, readFrontAuthorityCertificate } from "../front/authority.js";
import { runInLinuxNamespaces } from "../host/run-in-linux-namespaces.js";
import { createSubvolume, deleteSubvolume } from "../host/store.js";
import { buildDebianTree } from "../host/debian-tree.js";
import { computeInputKey } from "../input-key.js";
import { debianSuite } from "../cloud-debian-packages.js";
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
 * Packages that `prepare` would install: gnupg, and dependencies of Kubernetes and containerd. The
 * image contains these packages, so that servers do not download them. Debian's published image
 * does not. Tests on emulated machines show that the program installs the packages that it needs.
 */
const additions: readonly string[] = [
  ..."conntrack socat ethtool ebtables iptables runc gnupg".split(" "),
];

/**
 * Packages of the server image. Units that cannot work in a container do not start there, so no
 * unit is masked: systemd-udevd needs a writable /sys, and systemd-timesyncd and fstrim.timer check
 * for a container. apt's timers run, with a random delay on each server.
 */
export const serverImagePackages: readonly string[] = [...stockPackages, ...additions];

const files = (): Readonly<Record<string, ImageFile>> => ({
  ...getStockFiles(release),
  "etc/cloud/cloud.cfg.d/99-lab.cfg": { content: readFileSync(cloudInitConfiguration, "utf8") },
});

/**
 * Revision of the steps in this file. Increase the number when changed steps build a different
 * image from the same inputs.
 */
const revision = 4;

export const computeServerImageKey = (paths: Pick<LabPaths, "front">): string =>
  computeInputKey(
    ...[debianSuite, serverImagePackages, files(), stockUnits],
    ...[readFrontAuthorityCertificate(paths), revision],
  );

/**
 * Builds the server image, a compressed tar archive, and deletes older images. The store must be
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
