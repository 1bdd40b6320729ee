import { chmod, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { replaceFile } from "../../../base/atomic-files.js";
import { run } from "../../../base/run-command.js";
import { runInLinuxNamespaces } from "../host/run-in-linux-namespaces.js";
import { stockUnits, type ImageFile } from "./stock.js";

/** Certificates (PEM) of authorities that an image's machines trust in addition to Debian's own. */
export type TrustedAuthorities = readonly string[];

/**
 * Turns a Debian tree into a cloud image. Adds files and trusted authorities, and deletes the files
 * that belong to this host.
 */
export async function convertToCloudImage(
  tree: string,
  files: Readonly<Record<string, ImageFile>>,
  trusted: TrustedAuthorities,
): Promise<void> {
  for (const file of ["etc/hostname", "etc/resolv.conf", "etc/apt/apt.conf.d/99mmdebstrap"])
    await rm(join(tree, file), { force: true });
  await rm(join(tree, "etc/apt/sources.list"), { force: true });
  await run("find", [join(tree, "etc/ssh"), "-name", "ssh_host_*", "-delete"]);
  await run("find", [join(tree, "var/lib/apt/lists"), "-type", "f", "-delete"]);
  for (const [file, { content, mode }] of Object.entries(files)) {
    replaceFile(join(tree, file), content, { mode });
    if (mode !== undefined) await chmod(join(tree, file), mode);
  }
  for (const [index, certificate] of trusted.entries())
    replaceFile(join(tree, `usr/local/share/ca-certificates/lab-${index}.crt`), certificate);
  await symlink("../run/systemd/resolve/stub-resolv.conf", join(tree, "etc/resolv.conf"));
  await runInLinuxNamespaces("chroot", [tree, "update-ca-certificates"]);
  await runInLinuxNamespaces("chroot", [tree, "systemctl", "enable", ...stockUnits]);
}
