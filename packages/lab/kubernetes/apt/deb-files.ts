import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { run } from "../../../../base/run-command.js";
import type { IndexedFile } from "./apt-index.js";
import type { BuiltComponent } from "../compile/build-component.js";
import type { KubernetesRelease } from "../catalog/component.js";
import { computeFileDigest } from "../digest.js";
import { getDebFileName, renderControl, type DebPackage } from "../catalog/deb-package-table.js";

/** Folder with the packages' files that are not programs. */
export const packageAssetsFolder = join(__dirname, "../packages");
const scripts = ["postinst", "prerm", "postrm"];
/**
 * Fixed modification time of all files, in seconds, so that equal content gives an equal package.
 */
const epoch = 1_767_225_600;

/** Entry of a .deb file in the index Packages: control fields, name, size and digest. */
export interface DebFile {
  readonly control: string;
  readonly file: IndexedFile;
}

export interface PackDebOptions {
  readonly release: Pick<KubernetesRelease, "packageVersions">;
  readonly built: ReadonlyMap<string, BuiltComponent>;
  readonly signal?: AbortSignal;
}

/** Returns the path of an executable (`component/program`). */
export function getProgramFile(built: ReadonlyMap<string, BuiltComponent>, name: string): string {
  const [component = "", program = ""] = name.split("/");
  const found = built.get(component);
  if (!found) throw new Error(`${name}: component ${component} is not built`);
  return join(found.directory, program);
}

/** Copies a package unchanged, under a name without characters that a URL would encode. */
export async function copyDeb(file: string, output: string): Promise<DebFile> {
  const { stdout: control } = await run("dpkg-deb", ["--field", file]);
  const [name, version, architecture] = ["Package", "Version", "Architecture"].map(
    (field) => new RegExp(`^${field}: (.*)$`, "m").exec(control)?.[1] ?? "",
  );
  // As in Debian's own pool, the file name does not contain the epoch. Only the index contains it.
  const target = `${name ?? ""}_${version?.replace(/^\d+:/, "") ?? ""}_${architecture ?? ""}.deb`;
  const path = join(output, target);
  copyFileSync(file, path);
  const size = statSync(path).size;
  return { control, file: { name: target, size, sha256: await computeFileDigest(path) } };
}

/** Packs built files into a package. */
export async function packDeb(
  debPackage: DebPackage,
  output: string,
  options: PackDebOptions,
): Promise<DebFile> {
  const version = options.release.packageVersions[debPackage.name];
  if (version === undefined) throw new Error(`no version for the package ${debPackage.name}`);
  const root = join(output, `${debPackage.name}.root`);
  let bytes = 0;
  const install = (source: string, target: string, mode: number) => {
    const path = join(root, target);
    mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
    copyFileSync(source, path);
    chmodSync(path, mode);
    utimesSync(path, epoch, epoch);
    bytes += statSync(path).size;
  };
  for (const [path, name] of Object.entries(debPackage.programs)) {
    install(getProgramFile(options.built, name), path, 0o755);
  }
  for (const [path, file] of Object.entries(debPackage.files ?? {})) {
    install(join(packageAssetsFolder, file), path, 0o644);
  }
  const control = renderControl(debPackage, version, Math.ceil(bytes / 1024));
  for (const script of debPackage.unit ? scripts : []) {
    install(join(packageAssetsFolder, `${script}.sh`), `DEBIAN/${script}`, 0o755);
  }
  mkdirSync(join(root, "DEBIAN"), { recursive: true });
  writeFileSync(join(root, "DEBIAN", "control"), control);
  const name = getDebFileName(debPackage.name, version);
  const path = join(output, name);
  // Uses the fastest zstd level, because nodes wait for unpacking.
  await run("dpkg-deb", ["--root-owner-group", "-Zzstd", "-z1", "--build", root, path], {
    env: { ...process.env, SOURCE_DATE_EPOCH: epoch.toString() },
    signal: options.signal,
  });
  rmSync(root, { recursive: true });
  return {
    control,
    file: { name, size: statSync(path).size, sha256: await computeFileDigest(path) },
  };
}
