import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Step } from "../../base/progress.js";
import { run } from "../../base/run.js";
import { renderPackages, renderRelease, type IndexedFile } from "./apt-index.js";
import type { BuiltComponent } from "./build-component.js";
import type { Release } from "./component.js";
import { digestOf, digestOfFile } from "./digest.js";
import { debFileName, debPackages, renderControl, type DebPackage } from "./packages.js";
import type { SigningKey } from "./signing-key.js";

const assets = join(__dirname, "packages");
const scripts = ["postinst", "prerm", "postrm"];
/** Same content, same package: no file carries the time of the build. */
const epoch = 1_767_225_600;

export interface AptOptions {
  readonly release: Release;
  readonly built: ReadonlyMap<string, BuiltComponent>;
  readonly key: SigningKey;
  /** Upstream's own packages (name -> file), which are not built. */
  readonly mirrored: ReadonlyMap<string, string>;
  /** Files of the distribution's packages (.deb) that are offered beside the built ones. */
  readonly distribution: readonly string[];
  /** The repository's folder; replaced as a whole when something in it changed. */
  readonly directory: string;
  readonly step: Pick<Step, "update">;
  readonly signal?: AbortSignal;
}

/** `component/program` -> the executable and what it is built from. */
export function programFile(built: ReadonlyMap<string, BuiltComponent>, name: string): string {
  const [component = "", program = ""] = name.split("/");
  const found = built.get(component);
  if (!found) throw new Error(`${name}: component ${component} is not built`);
  return join(found.directory, program);
}

function repositoryKey(options: AptOptions): string {
  const used = new Set(
    debPackages.flatMap(({ programs }) =>
      Object.values(programs).map((name) => name.split("/")[0] ?? ""),
    ),
  );
  const components = [...used].sort().map((name) => [name, options.built.get(name)?.key]);
  const files = readdirSync(assets)
    .sort()
    .map((file) => [file, digestOf(readFileSync(join(assets, file)))]);
  const versions = options.release.packageVersions;
  const fingerprint = options.key.fingerprint;
  const distribution = options.distribution.map((file) => basename(file));
  const mirrored = options.mirrored.size > 0 ? [...options.mirrored.keys()] : undefined;
  const all = { debPackages, components, files, versions, fingerprint, distribution, mirrored };
  return digestOf(JSON.stringify(all));
}

/** Writes the signed repository unless the one there is made of the same things. Returns whether it wrote. */
export async function writeAptRepository(options: AptOptions): Promise<boolean> {
  const { directory, step } = options;
  const key = repositoryKey(options);
  const stamp = join(directory, "made-of");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === key) return false;
  const part = `${directory}.part`;
  rmSync(part, { recursive: true, force: true });
  mkdirSync(part, { recursive: true });
  const entries: { control: string; file: IndexedFile }[] = [];
  for (const debPackage of debPackages) {
    const { name } = debPackage;
    const own = options.mirrored.get(name);
    step.update(own === undefined ? `packing ${name}` : `adding ${name}`);
    entries.push(
      await (own === undefined ? packDeb(debPackage, part, options) : adoptDeb(own, part)),
    );
  }
  step.update("adding the distribution's packages");
  for (const file of options.distribution) entries.push(await adoptDeb(file, part));
  const packages = renderPackages(entries);
  writeFileSync(join(part, "Packages"), packages);
  const index = { name: "Packages", size: Buffer.byteLength(packages), sha256: digestOf(packages) };
  step.update("signing");
  const release = renderRelease(options.release.minor, new Date(), [index]);
  writeFileSync(join(part, "Release"), release);
  const signatures = await options.key.sign(release);
  writeFileSync(join(part, "InRelease"), signatures.inline);
  writeFileSync(join(part, "Release.gpg"), signatures.detached);
  writeFileSync(join(part, "Release.key"), options.key.publicKey);
  writeFileSync(join(part, "made-of"), key);
  replaceDirectory(part, directory);
  return true;
}

/** Puts `part` in the place of `directory`; what was there is gone afterwards. */
export function replaceDirectory(part: string, directory: string): void {
  const old = `${directory}.old`;
  rmSync(old, { recursive: true, force: true });
  if (existsSync(directory)) renameSync(directory, old);
  renameSync(part, directory);
  rmSync(old, { recursive: true, force: true });
}

/** A package as it is, under a name without what a web server would have to decode. */
async function adoptDeb(
  file: string,
  output: string,
): Promise<{ control: string; file: IndexedFile }> {
  const { stdout: control } = await run("dpkg-deb", ["--field", file]);
  const [name, version, architecture] = ["Package", "Version", "Architecture"].map(
    (field) => new RegExp(`^${field}: (.*)$`, "m").exec(control)?.[1] ?? "",
  );
  // As in Debian's own pool: the epoch is in the index only.
  const target = `${name ?? ""}_${version?.replace(/^\d+:/, "") ?? ""}_${architecture ?? ""}.deb`;
  const path = join(output, target);
  copyFileSync(file, path);
  const size = statSync(path).size;
  return { control, file: { name: target, size, sha256: await digestOfFile(path) } };
}

async function packDeb(
  debPackage: DebPackage,
  output: string,
  options: AptOptions,
): Promise<{ control: string; file: IndexedFile }> {
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
    install(programFile(options.built, name), path, 0o755);
  }
  for (const [path, file] of Object.entries(debPackage.files ?? {})) {
    install(join(assets, file), path, 0o644);
  }
  const control = renderControl(debPackage, version, Math.ceil(bytes / 1024));
  for (const script of debPackage.unit ? scripts : []) {
    install(join(assets, `${script}.sh`), `DEBIAN/${script}`, 0o755);
  }
  mkdirSync(join(root, "DEBIAN"), { recursive: true });
  writeFileSync(join(root, "DEBIAN", "control"), control);
  const name = debFileName(debPackage.name, version);
  const path = join(output, name);
  // zstd at its fastest: unpacking is what the nodes wait for
  await run("dpkg-deb", ["--root-owner-group", "-Zzstd", "-z1", "--build", root, path], {
    env: { ...process.env, SOURCE_DATE_EPOCH: epoch.toString() },
    signal: options.signal,
  });
  rmSync(root, { recursive: true });
  return { control, file: { name, size: statSync(path).size, sha256: await digestOfFile(path) } };
}
