import { rmSync } from "node:fs";
import { join } from "node:path";
import { replacePrivateFile } from "../../base/atomic-files.js";
import { readKubeAccess, type KubeAccess } from "../verify/kubernetes-client.js";
import { getLastUpPath } from "../pulumi/last-up.js";
import type { UpOptions, UpResult } from "./operation-options.js";
import { renderTimelinePage } from "../timeline/timeline-page.js";
import type { StackWorkspace } from "../pulumi/workspace.js";

interface Leading {
  readonly kubeconfig: string;
}

/**
 * Returns whether both kubeconfigs connect to the same cluster. Compares the CA certificates. If a
 * kubeconfig has no CA certificate, compares the addresses of the API servers.
 */
export function isSameCluster(one: Leading, other: Leading): boolean {
  const [a, b] = [one, other].map(({ kubeconfig }) => whereTo(kubeconfig));
  if (!a || !b) return false;
  return a.ca !== undefined && b.ca !== undefined ? a.ca === b.ca : a.server === b.server;
}

function whereTo(kubeconfig: string): KubeAccess | undefined {
  try {
    return readKubeAccess(kubeconfig);
  } catch {
    // The text is not a valid kubeconfig.
    return undefined;
  }
}

/**
 * Stack, and the stack's private directory. The directory belongs to one backend, one project and
 * one stack.
 */
type Whose = Pick<StackWorkspace, "stack" | "directory">;

/** Returns the path of the administrator's kubeconfig. */
export const getKubeconfigPath = ({ directory }: Pick<Whose, "directory">): string =>
  join(directory, "kubeconfig");

/** Returns the path of the HTML page that shows how long each part of the last `up` took. */
export const getTimelinePath = ({ directory }: Pick<Whose, "directory">): string =>
  join(directory, "timeline.html");

/** Writes the kubeconfig to a file that only its owner can read. Returns the path. */
export function writeKubeconfig(whose: Whose, kubeconfig: string): string {
  const path = getKubeconfigPath(whose);
  replacePrivateFile(path, kubeconfig);
  return path;
}

/**
 * Writes the kubeconfig after an `up`, unless `kubeconfigFile` is false or the outputs have no
 * kubeconfig.
 */
export function writeKubeconfigAfterUp(
  whose: Whose,
  { outputs }: Pick<UpResult, "outputs">,
  { kubeconfigFile = true }: Pick<UpOptions, "kubeconfigFile">,
): Pick<UpResult, "kubeconfigPath"> {
  const text = outputs["kubeconfig"]?.value;
  if (!kubeconfigFile || typeof text !== "string") return {};
  return { kubeconfigPath: writeKubeconfig(whose, text) };
}

/** Writes the timeline page, and returns its path. */
export function writeTimeline(
  whose: Whose,
  timeline: NonNullable<UpResult["timeline"]>,
): Pick<UpResult, "timelinePath"> {
  replacePrivateFile(getTimelinePath(whose), renderTimelinePage(whose.stack, timeline));
  return { timelinePath: getTimelinePath(whose) };
}

/**
 * Removes the local files of a deleted cluster: the kubeconfig, the timeline page, and the record
 * of the last `up`.
 */
export function removeClusterFiles(whose: Whose): void {
  for (const path of [getKubeconfigPath(whose), getTimelinePath(whose), getLastUpPath(whose)])
    rmSync(path, { force: true });
}
