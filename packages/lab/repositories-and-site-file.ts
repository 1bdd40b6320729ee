import type { Progress } from "../../base/progress.js";
import { renderSiteFile } from "./facts.js";
import { replacePrivateFile } from "../../base/atomic-files.js";
import { defaultKubernetesVersion } from "../../base/versions/pinned-versions.js";
import { ensureKubernetesSite, type KubernetesSite } from "./kubernetes/build.js";
import type { LabPaths } from "./settings.js";

export interface SiteOptions {
  /**
   * Kubernetes version that the repositories must offer, e.g. "1.36.3". @default the default
   * version of the builds
   */
  readonly kubernetes?: string;
  readonly progress: Progress;
  readonly signal?: AbortSignal;
}

/**
 * Returns the repositories of the lab. The first call builds the repositories, later calls use the
 * cache.
 */
export const ensureSite = ({
  kubernetes,
  progress,
  signal,
}: SiteOptions): Promise<KubernetesSite> =>
  ensureKubernetesSite({
    version: kubernetes ?? defaultKubernetesVersion,
    progress,
    ...(signal && { signal }),
  });

/** Writes site.yaml, the default settings for stacks of this lab. */
export const writeSiteFile = (paths: LabPaths, { keys }: KubernetesSite): void => {
  replacePrivateFile(paths.siteFile, renderSiteFile(keys));
};
