import { existsSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { ensureCommands } from "../../base/host-packages.js";
import { withLock } from "../../base/file-lock.js";
import { withStep, type Progress } from "../../base/progress.js";
import { runTogether } from "../../base/run-together.js";
import {
  ensureOptionalAddon,
  type OptionalAddonManifests,
} from "./kubernetes/optional-addon-images.js";
import {
  optionalAddonNames as registryExtras,
  type OptionalAddonName,
} from "./kubernetes/catalog/optional-addons.js";
import { addMachineImages, machinesExtraName } from "./machines/add.js";
import { ensureGoldenCloud, computeGoldenCloudKey } from "./cloud/golden-cloud.js";
import { removeCloud, getRunningCloudRoot, startCloud } from "./cloud/start-and-remove-cloud.js";
import { ensureFrontAuthority } from "./front/authority.js";
import { getLabFacts, writeCloudsFiles, type LabFacts } from "./facts.js";
import { checkCollisions } from "./host/set-up-network.js";
import { readHostAptSources, hostCommands, getHostPath } from "./host/packages.js";
import { checkHost } from "./host/requirements.js";
import { openStore } from "./host/store.js";
import { getLabPaths, readLabSettings, type LabPaths, type LabSettings } from "./settings.js";
import { ensureSite, writeSiteFile } from "./repositories-and-site-file.js";
import { readState, getRunningSettings } from "./state.js";
import { findLabProblems } from "./status.js";

export type { LabFacts } from "./facts.js";
export { labStatus, type LabStatus } from "./status.js";

export interface LabUpOptions {
  /**
   * Kubernetes version that the lab's repositories must offer. @default the default version of the
   * builds
   */
  readonly kubernetes?: string;
  readonly progress: Progress;
  /** Signal that stops the work. Everything that was started is removed. */
  readonly signal?: AbortSignal;
}

/**
 * Folder of the drivers, which is copied into the cloud. Commands use the copy that the last
 * compilation made in `dist/`. Tests run from the sources and use `drivers/`.
 */
const drivers = join(__dirname, "drivers");

interface Work extends LabUpOptions {
  readonly paths: LabPaths;
  readonly settings: LabSettings;
  readonly drivers: string;
}

/**
 * Starts the lab. If a healthy lab runs, only updates its repositories and its site file. Otherwise
 * builds the golden cloud, if it does not exist, and starts a cloud from a snapshot of it. An
 * interrupted call can be repeated.
 */
export async function labUp(options: LabUpOptions): Promise<LabFacts> {
  const wanted = readLabSettings();
  const paths = getLabPaths(wanted.name);
  // Creates the folder first, because `withLock` would create it readable for all users.
  await mkdir(paths.cache, { recursive: true, mode: 0o700 });
  return withLock(paths.lock, { purpose: "lab up" }, async () => {
    const state = await readState(paths);
    if (state && (await findLabProblems(state)).length === 0) {
      if (state.key !== computeGoldenCloudKey(state.settings, paths)) {
        options.progress.note(
          "The running lab was built from older files; 'stackadm-lab down' and 'stackadm-lab up' take the new ones.",
        );
      }
      const site = await ensureSite(options);
      writeSiteFile(paths, site);
      return getLabFacts(state.settings, paths);
    }
    return start({ ...options, paths, settings: wanted, drivers });
  });
}

async function start(work: Work): Promise<LabFacts> {
  const { paths, settings, progress, signal } = work;
  await ensureCommands(hostCommands, progress, { signal, path: getHostPath() });
  await prepareHost(work);
  try {
    await openStore(paths);
    // Runs in parallel: the golden cloud needs network and disk, the site needs the CPU.
    const [golden, site] = await runTogether(
      (stop) => ensureGoldenCloud({ ...work, signal: stop }),
      (stop) => ensureSite({ ...work, signal: stop }),
      signal,
    );
    signal?.throwIfAborted();
    await startCloud({ ...work, golden });
    writeCloudsFiles(settings, paths, golden.secrets);
    writeSiteFile(paths, site);
    return getLabFacts(settings, paths);
  } catch (error) {
    await withStep(progress, "Delete the started parts", 5, () => destroy(paths));
    throw error;
  }
}

/** Checks the host and removes the remains of an earlier lab. */
async function prepareHost({ paths, settings, progress }: Work): Promise<void> {
  await withStep(progress, "Check this host", 3, async (step) => {
    await checkHost(paths);
    step.update("deleting the remains of an earlier lab");
    await destroy(paths);
    step.update("comparing the lab's networks with those in use");
    const hosts = (await readHostAptSources()).map(({ uri }) => new URL(uri).hostname);
    await checkCollisions(settings, [...new Set(hosts)]);
  });
}

/** Removes the running cloud and the lab's state folder. */
async function destroy(paths: LabPaths): Promise<void> {
  await removeCloud(getRunningSettings(await readState(paths)), paths);
  await rm(paths.state, { recursive: true, force: true });
}

/** Names that `labAdd` accepts. */
export const extraNames = [...registryExtras, machinesExtraName] as const;

/**
 * Adds an optional part to the lab. The first call builds the images of this part. Container images
 * are added whether or not the lab runs. Images of virtual machines are added only to a running
 * lab. Returns the manifests that belong to the images.
 */
export async function labAdd(
  name: OptionalAddonName | typeof machinesExtraName,
  options: Pick<LabUpOptions, "progress" | "signal">,
): Promise<OptionalAddonManifests> {
  if (name !== machinesExtraName) return ensureOptionalAddon(name, options);
  const paths = getLabPaths(readLabSettings().name);
  await addMachineImages({
    ...options,
    paths,
    root: getRunningCloudRoot(paths),
    trusted: [await ensureFrontAuthority(paths)],
    state: await readState(paths),
  });
  return {};
}

/** Destroys the lab with everything in it. Only caches remain on the host. */
export async function labDown({ progress }: { progress: Progress }): Promise<void> {
  const paths = getLabPaths(readLabSettings().name);
  const places = [paths.cache, paths.state, paths.mounted];
  if (!places.some((place) => existsSync(place))) return;
  await withLock(paths.lock, { purpose: "lab down" }, () =>
    withStep(progress, "Destroy the lab", 8, () => destroy(paths)),
  );
}
