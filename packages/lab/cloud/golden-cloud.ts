import { existsSync } from "node:fs";
import { chmod, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { replacePrivateFile } from "../../../base/atomic-files.js";
import { run } from "../../../base/run-command.js";
import { withStep, type Progress, type Step } from "../../../base/progress.js";
import { ensureFrontAuthority } from "../front/authority.js";
import { runInContainer, removeContainer, startContainer } from "../host/container.js";
import { buildDebianTree } from "../host/debian-tree.js";
import { setUpNetwork, tearDownNetwork } from "../host/set-up-network.js";
import {
  createSubvolume,
  deleteSubvolume,
  flushStore,
  listTopSubvolumes,
  snapshotSubvolume,
} from "../host/store.js";
import { buildServerImage, getServerImageFile, computeServerImageKey } from "../image/image.js";
import { startHeartbeat } from "../kubernetes/heartbeat.js";
import { computeInputKey } from "../input-key.js";
import { debianBackportSources, cloudPackages, debianSuite } from "../cloud-debian-packages.js";
import type { LabPaths, LabSettings } from "../settings.js";
import { listCloudFiles, listCloudLinks, removedFiles } from "./files.js";
import { serverImageId } from "./offering.js";
import { generateLabSecrets, placeholderSecrets, type LabSecrets } from "./secrets.js";

/** Inputs of the build of a golden cloud. */
export interface GoldenCloudOptions {
  readonly settings: LabSettings;
  readonly paths: LabPaths;
  /** Folder of the drivers, mounted at /opt/lab. */
  readonly drivers: string;
  readonly progress: Progress;
  readonly signal?: AbortSignal;
}

/**
 * Golden cloud: a cloud that was configured and booted once. Every lab starts from a snapshot of
 * its root.
 */
export interface GoldenCloud {
  readonly key: string;
  readonly root: string;
  readonly secrets: LabSecrets;
}

/**
 * Revision of the steps in this file. Increase the number when changed steps build a different
 * cloud from the same inputs.
 */
const revision = 1;

const treeKey = (): string =>
  computeInputKey(debianSuite, cloudPackages, debianBackportSources, revision);

/**
 * Returns the key of the golden cloud: a digest of all inputs that determine its content, except
 * passwords and the drivers' code. `paths` is needed for the certificate of the front's authority.
 */
export const computeGoldenCloudKey = (settings: LabSettings, paths: LabPaths): string =>
  computeInputKey(
    ...[settings, treeKey(), computeServerImageKey(paths), revision],
    ...[listCloudFiles({ settings, secrets: placeholderSecrets }), listCloudLinks(), removedFiles],
  );

const goldenRoot = (paths: LabPaths, key: string) => join(paths.store, `golden-${key}`);
const secretsFile = (paths: LabPaths, key: string) => join(paths.goldens, key, "secrets.json");

/**
 * Returns the golden cloud for these settings from the store, or undefined. The store must be open.
 */
export async function findGoldenCloud(
  settings: LabSettings,
  paths: LabPaths,
): Promise<GoldenCloud | undefined> {
  const key = computeGoldenCloudKey(settings, paths);
  const root = goldenRoot(paths, key);
  const file = secretsFile(paths, key);
  if (!existsSync(root) || !existsSync(file)) return undefined;
  return { key, root, secrets: JSON.parse(await readFile(file, "utf8")) as LabSecrets };
}

/**
 * Returns the golden cloud in the store, or builds one: Debian packages, server image, first boot.
 */
export async function ensureGoldenCloud(build: GoldenCloudOptions): Promise<GoldenCloud> {
  const { progress, paths, signal } = build;
  // Creates the front's authority first, because the keys of images and golden clouds depend on the
  // authority's certificate.
  await ensureFrontAuthority(paths);
  const kept = await findGoldenCloud(build.settings, paths);
  if (kept) return kept;
  await deleteUnfinishedSubvolumes(paths);
  const tree = await ensurePackages(build);
  if (!existsSync(getServerImageFile(paths))) {
    await withStep(progress, "Cloud: server image", 45, (step) =>
      buildServerImage(paths, step, signal),
    );
  }
  return withStep(progress, "Cloud: first boot", 110, (step) => firstBoot(build, tree, step));
}

/** Deletes subvolumes that an interrupted build left in the store. */
async function deleteUnfinishedSubvolumes(paths: LabPaths): Promise<void> {
  for (const name of await listTopSubvolumes(paths)) {
    if (name.endsWith(".part")) await deleteSubvolume(paths, join(paths.store, name));
  }
}

/** Returns a subvolume with the cloud's Debian packages, not configured yet. */
async function ensurePackages({ paths, progress, signal }: GoldenCloudOptions): Promise<string> {
  const tree = join(paths.store, `packages-${treeKey()}`);
  if (existsSync(tree)) return tree;
  const part = `${tree}.part`;
  await createSubvolume(part);
  await withStep(progress, "Cloud: Debian packages", 130, (step) =>
    buildDebianTree({
      folder: part,
      packages: cloudPackages,
      backports: debianBackportSources,
      step,
      ...(signal && { signal }),
    }),
  );
  await rename(part, tree);
  return tree;
}

/** Writes configuration, units and scripts into a tree of Debian packages. */
export async function writeCloudConfiguration(
  root: string,
  settings: LabSettings,
  secrets: LabSecrets,
): Promise<void> {
  for (const path of removedFiles) await rm(join(root, path), { force: true });
  for (const { path, content, mode } of listCloudFiles({ settings, secrets })) {
    const file = join(root, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
    await chmod(file, mode ?? 0o644);
  }
  for (const { path, target } of listCloudLinks()) {
    const file = join(root, path);
    await mkdir(dirname(file), { recursive: true });
    await rm(file, { force: true, recursive: true });
    await symlink(target, file);
  }
  await writeFile(join(root, "etc/machine-id"), "");
}

async function firstBoot(
  build: GoldenCloudOptions,
  tree: string,
  step: Step,
): Promise<GoldenCloud> {
  const { settings, paths, drivers, signal } = build;
  const key = computeGoldenCloudKey(settings, paths);
  const root = goldenRoot(paths, key);
  const part = `${root}.part`;
  const secrets = await generateLabSecrets(settings, paths);
  await snapshotSubvolume(paths, tree, part);
  await writeCloudConfiguration(part, settings, secrets);
  await writeFile(join(part, "srv/image.tar.zst"), "");
  const beat = startHeartbeat(step);
  try {
    await setUpNetwork(settings, paths);
    const mounts = { [drivers]: "/opt/lab", [getServerImageFile(paths)]: "/srv/image.tar.zst" };
    await startContainer({ settings, root: part, mounts });
    await runInContainer(settings.name, ["/usr/local/lib/lab/first-boot.sh"], {
      onLine: beat.update,
      ...(signal && { signal }),
    });
    beat.update("stopping the services");
    await stopServices(settings.name);
  } finally {
    beat.stop();
    await removeContainer(settings.name);
    await tearDownNetwork(settings, paths);
  }
  step.update("unpacking the server image for the first servers");
  await prepareImageTree(paths, part);
  await writeSecretsAndVersions(build, part, secrets);
  await dropOldGoldens(paths, tree);
  await rename(part, root);
  return { key, root, secrets };
}

/**
 * Stops the services, because the databases must be complete on disk before the container is
 * killed.
 */
async function stopServices(name: string): Promise<void> {
  await runInContainer(name, ["systemctl", "stop", "os-*.service"]);
  await runInContainer(name, ["systemctl", "stop", "mariadb", "rabbitmq-server", "memcached"]);
  await runInContainer(name, ["journalctl", "--flush", "--rotate", "--vacuum-time=1s"]);
}

/**
 * Unpacks the server image into the folder of the Nova driver. Otherwise the driver would unpack
 * the image for the first server, and this server would start slowly.
 */
async function prepareImageTree(paths: LabPaths, root: string): Promise<void> {
  const tree = join(root, "srv/lab/nova/base", serverImageId);
  if (existsSync(tree)) return;
  await mkdir(dirname(tree), { recursive: true });
  await createSubvolume(tree);
  await run("tar", [
    ...["--extract", "--use-compress-program", "zstd", "--file", getServerImageFile(paths)],
    ...["--directory", tree, "--numeric-owner", "--xattrs", "--xattrs-include=*"],
  ]);
}

/** Writes passwords, certificates and the versions of all packages to the golden cloud's folder. */
async function writeSecretsAndVersions(
  { settings, paths }: GoldenCloudOptions,
  root: string,
  secrets: LabSecrets,
) {
  const folder = dirname(secretsFile(paths, computeGoldenCloudKey(settings, paths)));
  const versions = await run("dpkg-query", [
    `--admindir=${join(root, "var/lib/dpkg")}`,
    ...["--show", "--showformat", "${Package} ${Version}\n"],
  ]);
  replacePrivateFile(join(folder, "packages.txt"), versions.stdout);
  replacePrivateFile(
    secretsFile(paths, computeGoldenCloudKey(settings, paths)),
    JSON.stringify(secrets),
  );
  await run("btrfs", ["filesystem", "sync", paths.store]);
  await flushStore(paths);
}

/** Deletes all golden clouds and package trees in the store except this tree. */
async function dropOldGoldens(paths: LabPaths, tree: string): Promise<void> {
  for (const name of await listTopSubvolumes(paths)) {
    const path = join(paths.store, name);
    const old = /^(golden|packages)-[0-9a-f]+$/.test(name) && path !== tree;
    if (old) await deleteSubvolume(paths, path);
  }
  const keys = existsSync(paths.goldens) ? await readdir(paths.goldens) : [];
  const left = await listTopSubvolumes(paths);
  for (const key of keys) {
    if (!left.some((name) => name.startsWith(`golden-${key}`))) {
      await rm(join(paths.goldens, key), { recursive: true, force: true });
    }
  }
}
