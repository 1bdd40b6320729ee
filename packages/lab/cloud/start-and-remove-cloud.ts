import { existsSync } from "node:fs";
import { cp, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { withStep, type Progress } from "../../../base/progress.js";
import {
  getFrontFolders,
  mirrorCacheFolder,
  writeMirrorProxy,
} from "../front/debian-mirror-proxy.js";
import { hostConfigurationFolder } from "../front/nginx.js";
import { removeContainer, startContainer } from "../host/container.js";
import { listCgroupFolders } from "../host/cgroups.js";
import { isMounted } from "../host/mounts.js";
import { listNetworkRemains, setUpNetwork, tearDownNetwork } from "../host/set-up-network.js";
import {
  closeStore,
  deleteSubvolume,
  listLoopDevices,
  releaseLoopDevices,
  snapshotSubvolume,
  findStrayStore,
} from "../host/store.js";
import { writeState } from "../state.js";
import type { LabPaths, LabSettings } from "../settings.js";
import type { GoldenCloud } from "./golden-cloud.js";
import { waitUntilCloudReady } from "./readiness.js";

/** Returns the subvolume of the running cloud. */
export const getRunningCloudRoot = (paths: LabPaths): string => join(paths.store, "running");

export interface StartCloudOptions {
  readonly golden: GoldenCloud;
  readonly settings: LabSettings;
  readonly paths: LabPaths;
  /** Folder of the drivers, copied to /opt/lab. */
  readonly drivers: string;
  readonly progress: Progress;
  readonly signal?: AbortSignal;
}

/**
 * Starts a cloud from a snapshot of the golden cloud and waits until it can be used. An earlier
 * cloud must have been removed completely.
 */
export async function startCloud(start: StartCloudOptions): Promise<void> {
  const { golden, settings, paths, drivers, progress, signal } = start;
  const root = getRunningCloudRoot(paths);
  const front = getFrontFolders(paths);
  await withStep(progress, "Cloud: start", 45, async (step) => {
    await snapshotSubvolume(paths, golden.root, root);
    // Copies the drivers, so that a running cloud does not change or break when a compilation
    // replaces the folder.
    await cp(drivers, join(root, "opt", "lab"), { recursive: true });
    await mkdir(paths.site, { recursive: true });
    await writeMirrorProxy(settings, paths);
    await setUpNetwork(settings, paths);
    writeState(paths, {
      key: golden.key,
      startedAt: new Date().toISOString(),
      settings: { ...settings, zones: [...settings.zones] },
    });
    await startContainer({
      settings,
      root,
      mounts: {
        [paths.site]: "/srv/site",
        [front.configuration]: hostConfigurationFolder,
      },
      writableMounts: { [front.mirrored]: mirrorCacheFolder },
    });
    await waitUntilCloudReady({
      settings,
      password: golden.secrets.admin,
      step,
      ...(signal && { signal }),
    });
  });
}

/**
 * Removes a running or crashed cloud from the host: container, loop devices, network links, packet
 * filter rules and mounts. Keeps the caches.
 */
export async function removeCloud(settings: LabSettings, paths: LabPaths): Promise<void> {
  await removeContainer(settings.name);
  await tearDownNetwork(settings, paths);
  for (const store of await stores(paths)) {
    const root = getRunningCloudRoot(store);
    if (await isMounted(store.store)) {
      await releaseLoopDevices(root);
      await deleteSubvolume(store, root);
    }
    await closeStore(store);
  }
}

/**
 * Returns the paths of the lab's stores. A store that is still mounted from another cache folder
 * comes first.
 */
async function stores(paths: LabPaths): Promise<LabPaths[]> {
  const stray = await findStrayStore(paths);
  return stray ? [stray, paths] : [paths];
}

/** Returns the names of all parts of the lab on the host. The list is empty after `lab down`. */
export async function listLabRemains(settings: LabSettings, paths: LabPaths): Promise<string[]> {
  const places = await stores(paths);
  const inStores = places.map(async (place) => [
    ...(await listLoopDevices(getRunningCloudRoot(place))).map((name) => `loop device ${name}`),
    ...((await isMounted(place.store)) ? [`mount ${place.store}`] : []),
  ]);
  return [
    ...(await listNetworkRemains(settings, paths)),
    ...(await listCgroupFolders(settings.name)).map((folder) => `control group ${folder}`),
    ...(await Promise.all(inStores)).flat(),
    ...(existsSync(paths.state) ? [`folder ${paths.state}`] : []),
  ];
}
