import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { withStep, type Progress } from "../../../../base/progress.js";
import { run } from "../../../../base/run-command.js";
import { Failure } from "../../../../base/failures/failure.js";
import { downloadDebianPackages } from "../../host/debian-packages.js";
import { computeInputKey } from "../../input-key.js";
import type { KubernetesRelease } from "../catalog/component.js";
import {
  parseFailureReason,
  findUnavailabilityReason,
  type MirrorSettings,
} from "./mirror-settings.js";
import { findPinnedKey } from "../apt/signing-key.js";

export interface MirrorPackagesOptions {
  /** Settings of the mirror. If undefined, nothing is mirrored. */
  readonly settings: MirrorSettings | undefined;
  /** Folder in which mirrored packages are kept. */
  readonly cache: string;
  readonly progress: Progress;
  readonly signal?: AbortSignal;
}

/** Upstream's packages: name -> file (.deb). */
export type MirroredPackages = ReadonlyMap<string, string>;

/**
 * Returns the packages of a release that upstream's repository has in exactly these versions, with
 * upstream's signature. The first call downloads the packages. Returns none, and reports the
 * reason, if the repository is unreachable or not signed by the pinned key.
 */
export async function mirrorPackages(
  release: KubernetesRelease,
  { settings, cache, progress, signal }: MirrorPackagesOptions,
): Promise<MirroredPackages> {
  if (!settings) return new Map();
  const url = settings.url.replaceAll("{minor}", release.minor).replace(/\/*$/, "/");
  const versions = release.packageVersions;
  const folder = join(cache, `packages-${computeInputKey(url, settings.keyFingerprint, versions)}`);
  if (existsSync(folder)) return filesIn(folder);
  const { host } = new URL(url);
  const none = (why: string): MirroredPackages => {
    progress.note(`Packages are not mirrored from ${host} (${why}); the lab builds its own.`);
    return new Map();
  };
  const work = await mkdtemp(join(tmpdir(), "stackadm-key-"));
  const key = join(work, keyName);
  try {
    const missing = await withStep(progress, "Look for upstream's packages", 2, () =>
      findUnavailabilityReason((within) => fetchKey(url, work, within), signal),
    );
    if (missing !== undefined) return none(missing);
    await withStep(progress, `Mirror the packages of ${host}`, 30, async (step) => {
      await trustOnly(key, settings.keyFingerprint, url);
      await downloadDebianPackages({
        folder,
        step,
        onlyOffered: true,
        onlySigned: true,
        packages: Object.entries(versions).map(([name, version]) => `${name}=${version}`),
        mirrors: [`deb [signed-by=${key}] ${url} /`],
        ...(signal && { signal }),
      });
    });
    const taken = await filesIn(folder);
    // Deletes an empty folder, so that the next call tries again. Upstream may have the packages
    // later.
    if (taken.size === 0) await rm(folder, { recursive: true });
    const lacking = Object.keys(versions).filter((name) => !taken.has(name));
    if (lacking.length > 0)
      progress.note(
        `${host} does not have ${lacking.join(", ")} in the lab's version; the lab builds its own.`,
      );
    return taken;
  } catch (error) {
    signal?.throwIfAborted();
    return none(parseFailureReason(error));
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

const keyName = "Release.asc";

async function filesIn(folder: string): Promise<MirroredPackages> {
  const files = (await readdir(folder)).sort();
  return new Map(files.map((file) => [file.replace(/_.*$/, ""), join(folder, file)]));
}

/** Downloads the key with apt's own tool, which uses apt's proxies and authorities. */
async function fetchKey(url: string, cwd: string, signal: AbortSignal): Promise<void> {
  const options = ["Acquire::Retries=0", "APT::Sandbox::User=root"].flatMap((one) => ["-o", one]);
  await run(
    "/usr/lib/apt/apt-helper",
    [...options, "download-file", `${url}Release.key`, keyName],
    { cwd, signal },
  );
}

/** Removes all keys except the pinned one from the file. */
async function trustOnly(file: string, fingerprint: string, url: string): Promise<void> {
  const key = await findPinnedKey(await readFile(file, "utf8"), fingerprint);
  if (key === undefined)
    throw new Failure("FAILED", `${url}Release.key does not hold the key ${fingerprint}.`);
  await writeFile(file, key);
}
