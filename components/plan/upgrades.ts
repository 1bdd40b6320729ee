import { compareVersions, minorAfter, minorOf } from "../../base/versions.js";
import type { ClusterSpec } from "../spec/cluster-spec.js";
import { controlPlanesOf, planCluster, type ClusterPlan } from "./cluster-plan.js";
import { leavingOf, replacedOf, type Existing } from "./replacements.js";

/** The version of Kubernetes that a cluster had before the run. */
export interface VersionBefore {
  /** What its specification said in the run before. */
  readonly written: string | undefined;
  /** The earliest that a machine of it has come up with. Undefined: no run of this release has come to its end. */
  readonly reached: string | undefined;
}

/** The same of a living cluster. */
export interface Before extends VersionBefore {
  /** Its servers, as far as is known. */
  readonly existing: Existing;
}

interface Problem {
  readonly path: string;
  readonly message: string;
}

/** Whether machines of a cluster are to get another version than they have. */
export const isUpgrade = ({ kubernetes }: ClusterSpec, reached: string | undefined): boolean =>
  reached !== undefined && reached !== kubernetes.version;

/** Why a living cluster does not get the version that is asked for, or not in this run. */
export function upgradeProblems(spec: ClusterSpec, before: Before): Problem[] {
  const { version } = spec.kubernetes;
  const { written = version, reached } = before;
  if (written === version && !isUpgrade(spec, reached)) return [];
  const message =
    reached === undefined
      ? `${version} is too early for a cluster that no run of this release has brought up as a whole; write ${written} again, run \`up\`, and change it afterwards`
      : (againstVersion(reached, version) ??
        againstRun(planCluster(spec), before.existing, written === version));
  return message === undefined ? [] : [{ path: "cluster.kubernetes.version", message }];
}

/** What Kubernetes and kubeadm do not do. */
function againstVersion(reached: string, version: string): string | undefined {
  if (compareVersions(version, reached) < 0)
    return `${version} is earlier than ${reached}, and no cluster goes back; write ${reached}, or a later release`;
  const next = minorAfter(reached);
  if (![minorOf(reached), next].includes(minorOf(version)))
    return `${version} is more than one minor after ${reached}, and none can be left out; write a release of ${next} before`;
  return undefined;
}

/**
 * What must not happen besides. A machine that joins has a kubelet of the new version, which may not be newer than an API server; and
 * kubeadm waits for the oldest one. Where the upgrade has begun, one that was lost meanwhile comes back with the new version.
 */
function againstRun(plan: ClusterPlan, existing: Existing, begun: boolean): string | undefined {
  const machines = [...controlPlanesOf(plan), ...(plan.etcd?.machines ?? [])];
  const names = (some: readonly string[]): string => some.join(", ");
  const replaced = replacedOf(machines, existing).map(({ machine }) => machine.name);
  if (replaced.length > 0)
    return `cannot come while ${names(replaced)} would be replaced; write the generation again in which they were made, run \`up\`, and raise it afterwards`;
  const leaving = leavingOf(plan, existing);
  if (leaving.length > 0)
    return `cannot come while ${names(leaving)} would leave; write the former count again, run \`up\`, and lower it afterwards`;
  const missing = machines.filter(
    ({ role, position, name }) =>
      !existing.has(name) &&
      machines.some(
        (one) => one.role === role && one.position > position && existing.has(one.name),
      ),
  );
  if (missing.length > 0 && !begun)
    return `cannot come while there is no ${names(missing.map(({ name }) => name))}; write the former version again, run \`up --refresh\`, and change it afterwards`;
  return undefined;
}
