import { parseClusterSpec, type SpecResult } from "./cluster-spec.js";
import { findUserAddonProblems } from "./kubernetes/user-addon-manifests.js";
import { findManifestProblems } from "../pod-network/manifest-check.js";
import type { PinnedFileDirectories } from "../lookup/pinned-files.js";

/**
 * Checks the arguments of a cluster, and the files that the arguments name. The caller must call
 * this function before it creates any resource.
 */
export function validateClusterSpec(args: unknown, files?: PinnedFileDirectories): SpecResult {
  const result = parseClusterSpec(args);
  const problems =
    "spec" in result
      ? [
          ...findManifestProblems(result.spec, files),
          ...findUserAddonProblems(result.spec.addons, files),
        ]
      : [];
  return problems.length > 0 ? { problems } : result;
}
