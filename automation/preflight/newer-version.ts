import {
  compareVersions,
  getMinorVersion,
  getNextMinorVersion,
  kubernetesMinors,
} from "../../base/versions/pinned-versions.js";
import { createWarning, type Finding } from "../../openstack/checks/finding.js";

/**
 * Returns a warning if this release supports a later Kubernetes version to which the cluster can
 * upgrade in one step. An existing cluster keeps its version until the user writes another one.
 *
 * @param version Kubernetes version of the cluster
 */
export function findNewerVersion(version: string): Finding[] {
  const minors = [getNextMinorVersion(version), getMinorVersion(version)];
  const newest = minors
    .flatMap((minor) => kubernetesMinors[minor]?.version ?? [])
    .find((later) => compareVersions(later, version) > 0);
  return newest === undefined
    ? []
    : [
        createWarning(
          `kubernetes.version: the cluster has ${version}, and ${newest} is available; write ${newest} to upgrade`,
        ),
      ];
}
