import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../../../base/run-command.js";
import type { Step } from "../../../base/progress.js";

export interface DebianPackagesOptions {
  /** Folder for the files. An existing folder counts as complete. */
  readonly folder: string;
  /** Names of packages, with `=version` if a certain version is required. */
  readonly packages: readonly string[];
  /**
   * Whether to leave out packages with versions that the mirrors do not have. @default such a
   * package causes an error
   */
  readonly onlyOffered?: boolean;
  /**
   * Whether signatures must be valid even if the host's apt settings do not require them. @default
   * the host's settings
   */
  readonly onlySigned?: boolean;
  /** One-line apt sources of the release. */
  readonly mirrors: readonly string[];
  readonly step: Pick<Step, "update">;
  readonly signal?: AbortSignal;
}

/**
 * Returns options that make apt-get ignore the lists and packages of the host, which may be old or
 * belong to another release.
 */
export const getIsolatedAptOptions = (work: string): string[] =>
  [
    `Dir::Etc::sourcelist=${work}/sources.list`,
    "Dir::Etc::sourceparts=-",
    `Dir::State=${work}/state`,
    `Dir::State::status=${work}/status`,
    `Dir::Cache=${work}/cache`,
    "APT::Architecture=amd64",
    // Runs as root, because apt's user `_apt` cannot read these folders.
    "APT::Sandbox::User=root",
  ].flatMap((option) => ["-o", option]);

const signedOnly = [
  ...["Acquire::AllowInsecureRepositories", "Acquire::AllowWeakRepositories"],
  ...["Acquire::AllowDowngradeToInsecureRepositories", "APT::Get::AllowUnauthenticated"],
].flatMap((option) => ["-o", `${option}=false`]);

/** Returns the packages' files (.deb). The first call downloads the files. */
export async function downloadDebianPackages(of: DebianPackagesOptions): Promise<string[]> {
  if (!existsSync(of.folder)) await download(of);
  const files = await readdir(of.folder);
  return files.sort().map((file) => join(of.folder, file));
}

async function download({
  folder,
  packages,
  onlyOffered,
  onlySigned,
  mirrors,
  step,
  signal,
}: DebianPackagesOptions): Promise<void> {
  const work = await mkdtemp(join(tmpdir(), "stackadm-apt-"));
  const part = `${folder}.part`;
  const apart = [...getIsolatedAptOptions(work), ...(onlySigned ? signedOnly : [])];
  const options = {
    cwd: part,
    onLine: (line: string) => {
      step.update(line.slice(0, 80));
    },
    ...(signal && { signal }),
  };
  try {
    await rm(part, { recursive: true, force: true });
    for (const path of [part, `${work}/state/lists/partial`, `${work}/cache/archives/partial`])
      await mkdir(path, { recursive: true });
    await writeFile(join(work, "sources.list"), `${mirrors.join("\n")}\n`);
    await writeFile(join(work, "status"), "");
    await run("apt-get", [...apart, "update"], options);
    const wanted = onlyOffered ? await offered(packages, apart) : packages;
    if (wanted.length > 0) await run("apt-get", [...apart, "download", ...wanted], options);
    await rename(part, folder);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Returns the packages that the mirrors have in exactly these versions. */
async function offered(packages: readonly string[], apart: readonly string[]): Promise<string[]> {
  const names = packages.map((one) => one.replace(/=.*$/, ""));
  const { stdout } = await run("apt-cache", [...apart, "madison", ...names]);
  // Line of the output: name | version | source
  const found = [...stdout.matchAll(/^\s*(\S+) +\| +(\S+) +\|/gm)].map(
    ([, name = "", version = ""]) => `${name}=${version}`,
  );
  return packages.filter((one) => found.includes(one));
}
