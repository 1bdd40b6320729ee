import { readFileSync } from "node:fs";
import { cp, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { ensureCommands } from "../../../base/host-packages.js";
import { withLock } from "../../../base/file-lock.js";
import { withStep, type Progress } from "../../../base/progress.js";
import { Failure } from "../../../base/failures/failure.js";
import { runInContainer } from "../host/container.js";
import { getHostPath } from "../host/packages.js";
import type { TrustedAuthorities } from "../image/convert-to-cloud-image.js";
import type { LabPaths } from "../settings.js";
import type { RunningLabRecord } from "../state.js";
import { ensureMachineImages, imageCommands, type MachineImage } from "./build.js";

/** Name of the emulated machines in `lab add`. */
export const machinesExtraName = "emulated-machines";

export interface AddMachineImagesOptions {
  readonly paths: LabPaths;
  /** Folder on the host that is the root of the running cloud. */
  readonly root: string;
  /** Authorities of the public hosts for which the lab's front answers. */
  readonly trusted: TrustedAuthorities;
  /** State of the running lab. */
  readonly state: RunningLabRecord | undefined;
  readonly progress: Progress;
  readonly signal?: AbortSignal;
}

/** Adds images of virtual machines to the running lab. The first call builds the images. */
export async function addMachineImages(adding: AddMachineImagesOptions): Promise<void> {
  const { paths, root, trusted, state, progress, signal } = adding;
  if (state === undefined)
    throw new Failure("FAILED", "The lab does not run.", "Start it with `npx stackadm-lab up`.");
  const cloud = state.settings.name;
  await requireQemu(cloud);
  const options = { progress, ...(signal && { signal }) };
  await ensureCommands(imageCommands, progress, { signal, path: getHostPath() });
  const lock = { purpose: `lab add ${machinesExtraName}`, waitMs: 30 * 60_000 };
  await withLock(join(paths.cache, "machines", "lock"), { ...lock, signal }, async () => {
    const images = await ensureMachineImages({ paths, trusted, ...options });
    await offer(cloud, images, { root, ...options });
  });
}

/** Throws a Failure if the running lab has no qemu, because its golden cloud is too old. */
async function requireQemu(cloud: string): Promise<void> {
  const test = ["test", "-x", "/usr/bin/qemu-system-x86_64"];
  const { code } = await runInContainer(cloud, test, { accept: [0, 1] });
  if (code !== 0)
    throw new Failure(
      "FAILED",
      "The running lab was built from older files and has no qemu.",
      "`npx stackadm-lab down` and `stackadm-lab up` take the new ones.",
    );
}

const script = readFileSync(join(__dirname, "upload_images.py"), "utf8");
/**
 * Folder of the images in the cloud. On the host, this folder is below the running cloud's root.
 */
const folder = "/srv/lab/machines";

/** Adds the images that Glance does not have. */
async function offer(
  cloud: string,
  images: readonly MachineImage[],
  { root, progress, signal }: Pick<AddMachineImagesOptions, "root" | "progress" | "signal">,
): Promise<void> {
  const ask = (what: string, those: readonly MachineImage[]) => {
    const inside = those.map((image) => ({
      ...image,
      folder: join(folder, basename(image.folder)),
    }));
    const command = `. /root/openrc; exec python3 - ${what}`;
    return runInContainer(
      cloud,
      ["env", `IMAGES=${JSON.stringify(inside)}`, "bash", "-c", command],
      {
        input: script,
        ...(signal && { signal }),
      },
    );
  };
  const { stdout } = await ask("missing", images);
  const names = stdout.split("\n");
  const missing = images.filter(({ name }) => names.includes(name));
  if (missing.length === 0) return;
  const target = join(root, folder);
  await withStep(progress, "Put the images into the cloud", 30, async () => {
    try {
      for (const image of missing)
        await cp(image.folder, join(target, basename(image.folder)), { recursive: true });
      await ask("offer", missing);
    } finally {
      await rm(target, { recursive: true, force: true });
    }
  });
}
