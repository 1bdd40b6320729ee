import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../../base/run.js";
import type { Step } from "../../base/progress.js";

export interface DebianPackages {
  /** The files are put there; what is there already counts as complete. */
  readonly folder: string;
  /** Names, each with `=version` where it must be that one. */
  readonly packages: readonly string[];
  /** Leaves out what the mirrors do not have, of packages with versions. Default: that is an error. */
  readonly onlyOffered?: boolean;
  /** Takes nothing without a good signature, whatever the host's apt is told. Default: as the host does. */
  readonly onlySigned?: boolean;
  /** One-line sources of the release that they are taken from. */
  readonly mirrors: readonly string[];
  readonly step: Pick<Step, "update">;
  readonly signal?: AbortSignal;
}

/** Options of apt-get that keep it away from the host's own lists and packages: those may be old, or of another release. */
export const aptApart = (work: string): string[] =>
  [
    `Dir::Etc::sourcelist=${work}/sources.list`,
    "Dir::Etc::sourceparts=-",
    `Dir::State=${work}/state`,
    `Dir::State::status=${work}/status`,
    `Dir::Cache=${work}/cache`,
    "APT::Architecture=amd64",
    // The folders are only root's.
    "APT::Sandbox::User=root",
  ].flatMap((option) => ["-o", option]);

const signedOnly = [
  ...["Acquire::AllowInsecureRepositories", "Acquire::AllowWeakRepositories"],
  ...["Acquire::AllowDowngradeToInsecureRepositories", "APT::Get::AllowUnauthenticated"],
].flatMap((option) => ["-o", `${option}=false`]);

/** The packages' files (.deb), downloaded at the first call. */
export async function debianPackages(of: DebianPackages): Promise<string[]> {
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
}: DebianPackages): Promise<void> {
  const work = await mkdtemp(join(tmpdir(), "stackadm-apt-"));
  const part = `${folder}.part`;
  const apart = [...aptApart(work), ...(onlySigned ? signedOnly : [])];
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

/** Those that the mirrors have in just these versions. */
async function offered(packages: readonly string[], apart: readonly string[]): Promise<string[]> {
  const names = packages.map((one) => one.replace(/=.*$/, ""));
  const { stdout } = await run("apt-cache", [...apart, "madison", ...names]);
  // A line of it: name | version | where
  const found = [...stdout.matchAll(/^\s*(\S+) +\| +(\S+) +\|/gm)].map(
    ([, name = "", version = ""]) => `${name}=${version}`,
  );
  return packages.filter((one) => found.includes(one));
}
