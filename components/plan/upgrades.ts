import {
  compareVersions,
  getNextMinorVersion,
  getMinorVersion,
} from "../../base/versions/pinned-versions.js";
import type { ClusterSpec } from "../config/cluster-spec.js";
import { needsMajority } from "../config/roles.js";
import { listPlannedMachines, planCluster, type ClusterPlan } from "./cluster-plan.js";
import {
  listRemovedControlPlanes,
  listMachinesToReplace,
  type ExistingGenerations,
} from "./replacements.js";

/** Versions of a cluster before the run. */
export interface VersionBeforeUpgrade {
  /** Version in the specification of the previous run. */
  readonly written: string | undefined;
  /**
   * Lowest version of the cluster's machines. Undefined: no run with this release of the program
   * has finished.
   */
  readonly reached: string | undefined;
  /**
   * Checksum of containerd's settings (machine/containerd-values.ts) in the last run in which the
   * complete cluster became ready. Undefined: unknown.
   */
  readonly containerd?: string | undefined;
}

/** Versions and servers of an existing cluster before the run. */
export interface ClusterBeforeUpgrade extends VersionBeforeUpgrade {
  /** Servers that are known to exist. */
  readonly existing: ExistingGenerations;
  /** Whether the user wrote the version of this run. @default true */
  readonly versionWritten?: boolean;
}

interface Problem {
  readonly path: string;
  readonly message: string;
}

/** Returns whether the run changes the Kubernetes version of existing machines. */
export const isUpgrade = ({ kubernetes }: ClusterSpec, reached: string | undefined): boolean =>
  reached !== undefined && reached !== kubernetes.version;

/**
 * Returns a problem if this run cannot bring the cluster to the Kubernetes version in the
 * specification.
 */
export function findUpgradeProblems(spec: ClusterSpec, before: ClusterBeforeUpgrade): Problem[] {
  const { version } = spec.kubernetes;
  const { written = version, reached } = before;
  if (written === version && !isUpgrade(spec, reached)) return [];
  const message =
    reached !== undefined && before.versionWritten === false && written !== version
      ? `is not written, and the default of this release (${version}) differs from ${reached}, which the cluster has; write ${reached} to keep it, or ${version} to upgrade`
      : reached === undefined
        ? `${version} is not possible until an \`up\` of this release has finished for this cluster; write ${written} again, run \`up\`, and change it afterwards`
        : (againstVersion(reached, version) ??
          againstRun(planCluster(spec), before.existing, written === version));
  return message === undefined ? [] : [{ path: "cluster.kubernetes.version", message }];
}

/**
 * Returns the reason why Kubernetes does not support this change of the version: it is a downgrade,
 * or it skips a minor version. Returns undefined for a supported change.
 */
function againstVersion(reached: string, version: string): string | undefined {
  if (compareVersions(version, reached) < 0)
    return `${version} is earlier than ${reached}, and a downgrade is not possible; write ${reached}, or a later release`;
  const next = getNextMinorVersion(reached);
  if (![getMinorVersion(reached), next].includes(getMinorVersion(version)))
    return `${version} is more than one minor after ${reached}, and no minor can be skipped; write a release of ${next} before`;
  return undefined;
}

/**
 * Returns the reason why this run cannot upgrade: it also replaces, removes or recreates a control
 * plane or an etcd machine. Such a machine would join with the new kubelet, but a kubelet must not
 * be newer than any API server. If an earlier run began the upgrade (`begun`), a missing machine is
 * not a reason, because it is recreated with the new version.
 */
function againstRun(
  plan: ClusterPlan,
  existing: ExistingGenerations,
  begun: boolean,
): string | undefined {
  const machines = listPlannedMachines(plan).filter(({ role }) => needsMajority(role));
  const names = (some: readonly string[]): string => some.join(", ");
  const replaced = listMachinesToReplace(machines, existing).map(({ machine }) => machine.name);
  if (replaced.length > 0)
    return `cannot be installed while ${names(replaced)} would be replaced; write the generation again in which they were made, run \`up\`, and raise it afterwards`;
  const leaving = listRemovedControlPlanes(plan, existing);
  if (leaving.length > 0)
    return `cannot be installed while ${names(leaving)} would be removed; write the former count again, run \`up\`, and lower it afterwards`;
  const missing = machines.filter(
    ({ role, position, name }) =>
      !existing.has(name) &&
      machines.some(
        (one) => one.role === role && one.position > position && existing.has(one.name),
      ),
  );
  if (missing.length > 0 && !begun)
    return `cannot be installed while there is no ${names(missing.map(({ name }) => name))}; write the former version again, run \`up --refresh\`, and change it afterwards`;
  return undefined;
}
