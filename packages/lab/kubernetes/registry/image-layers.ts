import {
  chmodSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { Step } from "../../../../base/progress.js";
import { run } from "../../../../base/run-command.js";
import { buildDebianTree } from "../../host/debian-tree.js";
import { debianSuite } from "../../cloud-debian-packages.js";
import { getProgramFile } from "../apt/deb-files.js";
import type { BuiltComponent } from "../compile/build-component.js";
import type { RegistryImage } from "../catalog/component.js";
import { computeDigest } from "../digest.js";
import { resolveDebianPath } from "./oci.js";

/**
 * Packages of the shared Debian layer in addition to a minimal Debian with its shell and coreutils.
 */
export const debianLayerPackages: readonly string[] = [
  ...["iptables", "nftables", "ipset", "iproute2", "conntrack", "kmod"],
  ...["e2fsprogs", "xfsprogs", "mount", "ca-certificates", "curl", "netcat-openbsd"],
];

/**
 * Paths that no image uses, about half of the Debian layer: script languages installed as
 * dependencies, and tables of character sets.
 */
const unused: readonly RegExp[] = [
  /^usr\/(bin|lib|share)\/(python3|perl5?$|perl5\.)/,
  /^usr\/lib\/x86_64-linux-gnu\/(perl(-base)?$|gconv$|libperl\.|libicu|libpython)/,
  /^var\/lib\/apt$/,
];
/** Folders that are kept empty. */
const emptied = ["dev", "proc", "sys", "run", "tmp", "var/cache/apt", "var/log"];

/** Time of all files in a layer, so that equal content gives an equal digest. */
const epoch = "2026-01-01 00:00:00Z";

export interface LayerBuildContext {
  /** Folder for finished base layers and for temporary files. */
  readonly cache: string;
  readonly step: Step;
  readonly signal?: AbortSignal;
}

/**
 * Returns the Debian base layer with `more` packages, as a tar file in the cache. The first call
 * builds the layer (about a minute).
 */
export async function ensureDebianLayer(
  options: LayerBuildContext,
  more: readonly string[] = [],
): Promise<string> {
  const packages = [...debianLayerPackages, ...more];
  const key = computeDigest([debianSuite, ...packages, ...unused].join(" ")).slice(0, 12);
  const file = join(options.cache, `debian-${debianSuite}-${key}.tar`);
  if (existsSync(file)) return file;
  const root = freshRoot(options);
  await buildDebianTree({
    folder: root,
    packages,
    step: options.step,
    ...(options.signal && { signal: options.signal }),
  });
  deleteUnusedFiles(root);
  options.step.update("writing the layer");
  await pack(root, `${file}.part`, options);
  renameSync(`${file}.part`, file);
  return file;
}

function deleteUnusedFiles(root: string): void {
  const remove = (path: string) => {
    rmSync(join(root, path), { recursive: true, force: true });
  };
  for (const folder of ["usr/bin", "usr/lib", "usr/share", "usr/lib/x86_64-linux-gnu", "var/lib"]) {
    for (const entry of readdirSync(join(root, folder))) {
      if (isExcludedFromLayer(`${folder}/${entry}`)) remove(`${folder}/${entry}`);
    }
  }
  for (const folder of emptied) {
    for (const entry of readdirSync(join(root, folder))) remove(`${folder}/${entry}`);
  }
  for (const name of ["etc/hostname", "etc/resolv.conf", "etc/machine-id"]) remove(name);
}

/** Reports whether the layer leaves out a path of the Debian tree. */
export function isExcludedFromLayer(path: string): boolean {
  return unused.some((pattern) => pattern.test(path));
}

/**
 * Returns the layer of images without a distribution: folders, users and the CA certificates of the
 * Debian layer.
 */
export async function ensureEmptyLayer(
  debian: string,
  options: LayerBuildContext,
): Promise<string> {
  const certificates = "etc/ssl/certs/ca-certificates.crt";
  const file = debian.replace(/\.tar$/, "-certificates.tar");
  if (existsSync(file)) return file;
  const root = freshRoot(options);
  for (const name of ["etc", "proc", "sys", "dev", "run", "tmp", "var"]) {
    mkdirSync(join(root, name), { recursive: true, mode: 0o755 });
  }
  chmodSync(join(root, "tmp"), 0o1777);
  writeFileSync(join(root, "etc/passwd"), passwd.join("\n") + "\n");
  writeFileSync(join(root, "etc/group"), "root:x:0:\nnonroot:x:65532:\nnobody:x:65534:\n");
  writeFileSync(join(root, "etc/nsswitch.conf"), "hosts: files dns\n");
  await run("tar", ["-xf", debian, "-C", root, `./${certificates}`]);
  await pack(root, `${file}.part`, options);
  renameSync(`${file}.part`, file);
  return file;
}

const passwd = [
  "root:x:0:0:root:/root:/sbin/nologin",
  "nonroot:x:65532:65532:nonroot:/:/sbin/nologin",
  "nobody:x:65534:65534:nobody:/:/sbin/nologin",
];

/**
 * Returns the layer with an image's own executables, as a tar file. The caller must move the file,
 * because the next call overwrites it.
 */
export async function createProgramLayer(
  image: RegistryImage,
  built: ReadonlyMap<string, BuiltComponent>,
  options: LayerBuildContext,
): Promise<string> {
  const root = freshRoot(options);
  const place = (path: string): string => {
    const target = join(root, image.base === "debian" ? resolveDebianPath(path) : path);
    mkdirSync(dirname(target), { recursive: true, mode: 0o755 });
    return target;
  };
  for (const [path, name] of Object.entries(image.files)) {
    linkSync(getProgramFile(built, name), place(path));
  }
  for (const [path, name] of Object.entries(image.folders ?? {}))
    cpSync(getProgramFile(built, name), place(path), { recursive: true });
  for (const [path, target] of Object.entries(image.links ?? {})) symlinkSync(target, place(path));
  const file = join(options.cache, "layer.tar");
  await pack(root, file, options);
  return file;
}

function freshRoot(options: LayerBuildContext): string {
  const root = join(options.cache, "root");
  rmSync(root, { recursive: true, force: true });
  mkdirSync(root, { recursive: true, mode: 0o755 });
  return root;
}

/** Writes a tar file whose bytes depend only on names, modes and contents. */
async function pack(root: string, file: string, options: LayerBuildContext): Promise<void> {
  const owner = ["--owner=0", "--group=0", "--numeric-owner"];
  const modes = ["--mode=u+rwX,go+rX"]; // independent of the builder's umask
  const order = [
    "--format=ustar",
    "--sort=name",
    `--mtime=${epoch}`,
    "--hard-dereference",
    ...modes,
  ];
  await run("tar", [...order, ...owner, "-C", root, "-cf", file, "."], { signal: options.signal });
  rmSync(root, { recursive: true });
}
