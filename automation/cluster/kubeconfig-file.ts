import { existsSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { writePrivate } from "../../base/files.js";
import { stateDirectory } from "../../base/paths.js";
import { readKubeAccess, type KubeAccess } from "../verify/kubernetes-api.js";
import { begunPath } from "./begun.js";
import type { UpOptions, UpResult } from "./options.js";
import { timelinePage } from "./timeline-page.js";
import type { Workspace } from "./workspace.js";

interface Leading {
  readonly kubeconfig: string;
}

/** Whether both lead to the same cluster: by its own authority, by the address where one is not told. */
export function isSameCluster(one: Leading, other: Leading): boolean {
  const [a, b] = [one, other].map(({ kubeconfig }) => whereTo(kubeconfig));
  if (!a || !b) return false;
  return a.ca !== undefined && b.ca !== undefined ? a.ca === b.ca : a.server === b.server;
}

function whereTo(kubeconfig: string): KubeAccess | undefined {
  try {
    return readKubeAccess(kubeconfig);
  } catch {
    // Nothing that leads anywhere.
    return undefined;
  }
}

/** Whose file it is: the directory is of one backend, project and stack. */
type Whose = Pick<Workspace, "stack" | "directory">;

/** Where the administrator's kubeconfig of a stack lies. */
export const kubeconfigPath = ({ directory }: Pick<Whose, "directory">): string =>
  join(directory, "kubeconfig");

/** Where the page lies that says where the time of the last `up` went: beside the kubeconfig. */
export const timelinePath = ({ directory }: Pick<Whose, "directory">): string =>
  join(directory, "timeline.html");

/**
 * Moves the file of an earlier release to where it lies now. It was named by the stack alone, so it may be of another backend's
 * or project's: it is moved only where it leads to one of these clusters.
 */
export async function moveEarlier(
  whose: Whose,
  clusters: () => readonly Leading[] | Promise<readonly Leading[]>,
): Promise<void> {
  const earlier = stateDirectory(`kubeconfig-${whose.stack}`);
  if (!existsSync(earlier)) return;
  const kubeconfig = readFileSync(earlier, "utf8");
  const led = await clusters();
  if (led.some((one) => isSameCluster(one, { kubeconfig })))
    renameSync(earlier, kubeconfigPath(whose));
}

/** Writes the kubeconfig, readable by its owner only from the first byte on; answers its path. */
export async function writeKubeconfig(whose: Whose, kubeconfig: string): Promise<string> {
  await moveEarlier(whose, () => [{ kubeconfig }]);
  const path = kubeconfigPath(whose);
  writePrivate(path, kubeconfig);
  return path;
}

/** Writes the kubeconfig of a cluster that was made, where that is wanted and it is among the outputs. */
export async function keepKubeconfig(
  whose: Whose,
  { outputs }: Pick<UpResult, "outputs">,
  { kubeconfigFile = true }: Pick<UpOptions, "kubeconfigFile">,
): Promise<Pick<UpResult, "kubeconfigPath">> {
  const text = outputs["kubeconfig"]?.value;
  if (!kubeconfigFile || typeof text !== "string") return {};
  return { kubeconfigPath: await writeKubeconfig(whose, text) };
}

/** Writes beside it where the time went. */
export function keepTimeline(
  whose: Whose,
  timeline: NonNullable<UpResult["timeline"]>,
): Pick<UpResult, "timelinePath"> {
  writePrivate(timelinePath(whose), timelinePage(whose.stack, timeline));
  return { timelinePath: timelinePath(whose) };
}

/** What is remembered of a cluster that came up well: see `fitted.ts`. */
export const fittedPath = ({ directory }: Pick<Whose, "directory">): string =>
  join(directory, "fitted");

/** Removes what is kept of a cluster that is gone: the way to it, the page of its last `up`, with what it came up, and when that began. */
export function removeFiles(whose: Whose): void {
  for (const path of [
    kubeconfigPath(whose),
    timelinePath(whose),
    fittedPath(whose),
    begunPath(whose),
  ])
    rmSync(path, { force: true });
}
