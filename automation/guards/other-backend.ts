import { findMarked, isIrreplaceable } from "../../openstack/inventory/marked-objects.js";
import { hasData, isIdentity } from "../../openstack/inventory/ownership.js";
import type { ClusterSpec } from "../../components/config/cluster-spec.js";
import { withoutPassword } from "../../base/url-passwords.js";
import { ClusterError } from "../pulumi/cluster-error.js";
import type { DestroyResult } from "../engine/operation-options.js";
import { clusterSummaryLines, showCommand } from "../orphans/orphan-summary.js";
import type { StackOperation } from "../engine/operation-context.js";
import { readNameAndProtection } from "../engine/stack-settings.js";

/**
 * Returns name and protection of the cluster from the stack's settings, even if the settings are
 * invalid.
 */
export async function nameAndProtectionOf(
  run: StackOperation,
): Promise<Pick<ClusterSpec, "name" | "protect">> {
  try {
    return await run.spec();
  } catch (error) {
    if (error instanceof ClusterError && error.code === "INVALID_CONFIG")
      return readNameAndProtection(run.sources());
    throw error;
  }
}

/**
 * Throws if the project has a running cluster of this name. Called if the state is empty: the user
 * has then probably selected another backend than the cluster's. The error lists the cluster's
 * objects. If there is no such cluster, returns the objects that a former cluster of this name
 * left: volumes, volume snapshots and floating IPs of Services.
 */
export async function requireNoOtherBackend(
  run: StackOperation,
  cluster: string,
): Promise<Pick<DestroyResult, "kept" | "hidden">> {
  const { found, hidden } = await findMarked(await run.cloud());
  const ours = found.filter(({ mark }) => mark.name === cluster);
  const living = ours.filter((object) => !isIrreplaceable(object) && !hasData(object));
  if (living.length === 0) return { kept: ours, ...(hidden.length > 0 && { hidden }) };
  const identity = living.find(({ mark }) => isIdentity(mark.identity))?.mark.identity;
  const lost =
    identity === undefined
      ? ""
      : ` If that state is lost, \`${showCommand(identity)}\` lists the cluster's objects and shows how to delete them.`;
  throw new ClusterError(
    "STACK_NOT_FOUND",
    `The state at ${withoutPassword(run.service.backend)} has no resources of stack '${run.stack}', so nothing was destroyed. The project has:\n${clusterSummaryLines(living)}`,
    `Set PULUMI_BACKEND_URL to the backend with the state of this cluster.${lost}`,
  );
}
