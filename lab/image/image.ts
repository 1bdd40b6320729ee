import { readFileSync } from "node:fs";
import { copyFile, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { run } from "../../base/run.js";
import type { Step } from "../../base/progress.js";
import { writeWhole } from "../../base/files.js";
import { ensureFrontCertificate, frontCertificate } from "../front/authority.js";
import { runContained } from "../host/contained.js";
import { createSubvolume, deleteSubvolume } from "../host/store.js";
import { debianTree } from "../host/debian-tree.js";
import { inputKey } from "../key.js";
import { imagePackages, suite } from "../packages.js";
import type { LabPaths } from "../settings.js";

const cloudInitConfiguration = join(__dirname, "99-lab.cfg");

/** Debian's own, as its cloud images have them but for sources and backports; in the lab the front answers for these hosts. */
const aptSources: Readonly<Record<string, string>> = {
  "etc/apt/sources.list": "",
  "etc/apt/mirrors/debian.list": "https://deb.debian.org/debian\n",
  "etc/apt/mirrors/debian-security.list": "https://deb.debian.org/debian-security\n",
  "etc/apt/sources.list.d/debian.sources": `Types: deb
URIs: mirror+file:///etc/apt/mirrors/debian.list
Suites: ${suite} ${suite}-updates
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: mirror+file:///etc/apt/mirrors/debian-security.list
Suites: ${suite}-security
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
`,
};

/** Changes whenever the steps in this file give another image from the same packages. */
const revision = 3;

export const imageKey = (paths: Pick<LabPaths, "front">): string =>
  inputKey(
    ...[suite, imagePackages, readFileSync(cloudInitConfiguration, "utf8"), aptSources],
    ...[frontCertificate(paths), revision],
  );

/**
 * Units that do nothing good in a system container of a laboratory: device rules belong to the host, and package
 * timers would wake up in every server at once.
 */
const maskedUnits = [
  ..."systemd-udevd.service systemd-udev-trigger.service systemd-udevd-kernel.socket".split(" "),
  ..."systemd-udevd-control.socket systemd-modules-load.service apt-daily.timer".split(" "),
  ..."apt-daily-upgrade.timer fstrim.timer e2scrub_all.timer dpkg-db-backup.timer".split(" "),
];

/** Makes a Debian tree a cloud image: cloud-init's configuration, Debian's mirrors, the front's authority, nothing of this host. */
async function generalize(tree: string, authority: string): Promise<void> {
  await copyFile(cloudInitConfiguration, join(tree, "etc/cloud/cloud.cfg.d/99-lab.cfg"));
  await mkdir(join(tree, "var/log/journal"), { recursive: true });
  await writeFile(join(tree, "etc/machine-id"), "");
  // There is no locales package; with this, cloud-init has nothing to generate.
  await writeFile(join(tree, "etc/default/locale"), "LANG=C.UTF-8\n");
  for (const [file, text] of Object.entries(aptSources)) writeWhole(join(tree, file), text);
  writeWhole(join(tree, "usr/local/share/ca-certificates/stackadm-lab.crt"), authority);
  await runContained("chroot", [tree, "update-ca-certificates"]);
  await run("find", [join(tree, "etc/ssh"), "-name", "ssh_host_*", "-delete"]);
  for (const file of ["etc/hostname", "etc/resolv.conf", "etc/apt/apt.conf.d/99mmdebstrap"]) {
    await rm(join(tree, file), { force: true });
  }
  for (const unit of maskedUnits) {
    await run("ln", ["-sf", "/dev/null", join(tree, "etc/systemd/system", unit)]);
  }
}

/** Builds the server image, a compressed tar archive, in place of earlier ones. The store must be open. */
export async function buildImage(paths: LabPaths, step: Step, signal?: AbortSignal): Promise<void> {
  const file = imageFile(paths);
  const tree = join(paths.store, `image-${imageKey(paths)}.part`);
  await deleteSubvolume(paths, tree);
  await createSubvolume(tree);
  await debianTree({ folder: tree, packages: imagePackages, step, ...(signal && { signal }) });
  await generalize(tree, await ensureFrontCertificate(paths));
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
  await runContained(
    "tar",
    [...tar, "--use-compress-program", "zstd -3 -T0", "--file", `${file}.part`, "."],
    { ...(signal && { signal }) },
  );
  await rename(`${file}.part`, file);
  await deleteSubvolume(paths, tree);
}

export const imageFile = (paths: LabPaths): string =>
  join(paths.images, `debian-12-${imageKey(paths)}.tar.zst`);
