import {
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Step } from "../../../../base/progress.js";
import { renderPackages, renderRelease, type IndexedFile, type ReleaseFacts } from "./apt-index.js";
import type { BuiltComponent } from "../compile/build-component.js";
import type { KubernetesRelease } from "../catalog/component.js";
import { copyDeb, packageAssetsFolder, packDeb, type DebFile } from "./deb-files.js";
import { computeDigest } from "../digest.js";
import {
  debPackages,
  dockerPackages,
  getEarlierVersion,
  type DebPackage,
} from "../catalog/deb-package-table.js";
import type { SigningKey } from "./signing-key.js";

export interface AptRepositoryOptions {
  readonly release: KubernetesRelease;
  readonly built: ReadonlyMap<string, BuiltComponent>;
  readonly key: SigningKey;
  /** Packages that were mirrored from upstream, not built. A map from a name to a file. */
  readonly mirrored: ReadonlyMap<string, string>;
  /** Folder of the repository. The whole folder is replaced when any content changes. */
  readonly directory: string;
  readonly step: Pick<Step, "update">;
  readonly signal?: AbortSignal;
}

const isDockers = ({ name }: DebPackage): boolean => dockerPackages.includes(name);

/**
 * Writes the Kubernetes repository of one minor, flat and with the public key, like pkgs.k8s.io.
 * Returns false if the repository was complete and unchanged.
 */
export const writeKubernetesRepository = (options: AptRepositoryOptions): Promise<boolean> =>
  writeRepository(
    options,
    debPackages.filter((one) => !isDockers(one)),
    async (debs, part) => {
      const packages = writeIndex(part, "Packages", debs);
      const description = `Kubernetes v${options.release.minor}`;
      await writeRelease(part, { description, date: new Date(), files: [packages] }, options.key);
      writeFileSync(join(part, "Release.key"), options.key.publicKey);
      writeFileSync(join(part, "Release.key.expired"), await options.key.expired());
    },
  );

/** Distribution releases that download.docker.com supports and the program's machines use. */
export const dockerSuites: Readonly<Record<string, readonly string[]>> = {
  debian: ["bookworm", "trixie"],
  ubuntu: ["jammy", "noble", "resolute"],
};

/**
 * Writes Docker's repositories in the layout of download.docker.com: one per distribution, with
 * suites. The component `test` contains earlier builds, from which machines can be updated. Returns
 * false if the repositories were complete and unchanged.
 */
export const writeDockerRepository = (options: AptRepositoryOptions): Promise<boolean> =>
  writeRepository(options, debPackages.filter(isDockers), async (debs, part) => {
    const components = { stable: debs, test: await packEarlierBuilds(part, options) };
    for (const [distribution, codenames] of Object.entries(dockerSuites)) {
      const root = join(part, distribution);
      for (const codename of codenames) await writeSuite(root, codename, components, options);
      writeFileSync(join(root, "gpg"), options.key.publicKey);
    }
    for (const { file } of Object.values(components).flat()) rmSync(join(part, file.name));
  });

/** Packs the earlier builds of Docker's packages. A mirrored package has no earlier build. */
async function packEarlierBuilds(
  output: string,
  options: AptRepositoryOptions,
): Promise<readonly DebFile[]> {
  const { packageVersions } = options.release;
  const debs: DebFile[] = [];
  for (const one of debPackages.filter(isDockers)) {
    const { name, earlierRevision } = one;
    if (earlierRevision === undefined || options.mirrored.has(name)) continue;
    const version = getEarlierVersion(packageVersions[name] ?? "", earlierRevision);
    const release = { packageVersions: { ...packageVersions, [name]: version } };
    debs.push(await packDeb(one, output, { ...options, release }));
  }
  return debs;
}

/** Writes a suite. `components` contains the packages of each component. */
async function writeSuite(
  root: string,
  codename: string,
  components: Readonly<Record<string, readonly DebFile[]>>,
  { key }: AptRepositoryOptions,
): Promise<void> {
  const suite = join(root, "dists", codename);
  const files = Object.entries(components).flatMap(([component, debs]) =>
    writeComponent(root, codename, component, debs),
  );
  const facts = { description: "containerd", date: new Date(), files };
  const names = Object.keys(components);
  await writeRelease(suite, { ...facts, suite: { codename, components: names } }, key);
}

/** Writes the packages and the indexes of one component. Returns the indexes. */
function writeComponent(
  root: string,
  codename: string,
  component: string,
  debs: readonly DebFile[],
): readonly IndexedFile[] {
  const suite = join(root, "dists", codename);
  const pool = `dists/${codename}/pool/${component}/amd64`;
  mkdirSync(join(root, pool), { recursive: true });
  // Links the files, because all suites contain the same packages.
  const own = debs.map(({ control, file }) => {
    linkSync(join(root, "..", file.name), join(root, pool, file.name));
    return { control, file: { ...file, name: `${pool}/${file.name}` } };
  });
  const index = writeIndex(suite, `${component}/binary-amd64/Packages`, own);
  return [index, writeIndexed(suite, `${index.name}.gz`, gzipSync(renderPackages(own)))];
}

const writeIndex = (root: string, name: string, debs: readonly DebFile[]): IndexedFile =>
  writeIndexed(root, name, Buffer.from(renderPackages(debs)));

function writeIndexed(root: string, name: string, content: Buffer): IndexedFile {
  mkdirSync(dirname(join(root, name)), { recursive: true });
  writeFileSync(join(root, name), content);
  return { name, size: content.length, sha256: computeDigest(content) };
}

async function writeRelease(root: string, facts: ReleaseFacts, key: SigningKey): Promise<void> {
  const release = renderRelease(facts);
  const signatures = await key.sign(release);
  writeFileSync(join(root, "Release"), release);
  writeFileSync(join(root, "InRelease"), signatures.inline);
  writeFileSync(join(root, "Release.gpg"), signatures.detached);
}

function repositoryKey(options: AptRepositoryOptions, packages: readonly DebPackage[]): string {
  const used = new Set(
    packages.flatMap(({ programs }) =>
      Object.values(programs).map((name) => name.split("/")[0] ?? ""),
    ),
  );
  const components = [...used].sort().map((name) => [name, options.built.get(name)?.key]);
  const files = readdirSync(packageAssetsFolder)
    .sort()
    .map((file) => [file, computeDigest(readFileSync(join(packageAssetsFolder, file)))]);
  const versions = packages.map(({ name }) => options.release.packageVersions[name]);
  const fingerprint = options.key.fingerprint;
  const mirrored = packages.flatMap(({ name }) => options.mirrored.get(name) ?? []);
  return computeDigest(
    JSON.stringify({ packages, components, files, versions, fingerprint, mirrored, dockerSuites }),
  );
}

/**
 * Writes a repository unless the existing repository has the same inputs.
 *
 * @param fill writes the indexes for the packages' files in the folder `part`
 */
async function writeRepository(
  options: AptRepositoryOptions,
  packages: readonly DebPackage[],
  fill: (debs: readonly DebFile[], part: string) => Promise<void>,
): Promise<boolean> {
  const { directory, step } = options;
  const key = repositoryKey(options, packages);
  const stamp = join(directory, "made-of");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === key) return false;
  const part = `${directory}.part`;
  rmSync(part, { recursive: true, force: true });
  mkdirSync(part, { recursive: true });
  const debs: DebFile[] = [];
  for (const one of packages) {
    const own = options.mirrored.get(one.name);
    step.update(own === undefined ? `packing ${one.name}` : `adding ${one.name}`);
    debs.push(await (own === undefined ? packDeb(one, part, options) : copyDeb(own, part)));
  }
  step.update("signing");
  await fill(debs, part);
  writeFileSync(join(part, "made-of"), key);
  replaceDirectory(part, directory);
  return true;
}

/** Replaces `directory` by `part` and deletes its previous content. */
export function replaceDirectory(part: string, directory: string): void {
  const old = `${directory}.old`;
  rmSync(old, { recursive: true, force: true });
  if (existsSync(directory)) renameSync(directory, old);
  renameSync(part, directory);
  rmSync(old, { recursive: true, force: true });
}
