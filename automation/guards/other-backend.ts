import {
  findMarkedObjects,
  isKeptUnlessRequested,
} from "../../openstack/inventory/marked-objects.js";
import { canBeMarkedAsKept } from "../../openstack/inventory/mark-as-kept.js";
import { hasData } from "../../openstack/inventory/ownership.js";
import type { ClusterSpec } from "../../components/config/cluster-spec.js";
import { removeUrlPassword } from "../../base/url-passwords.js";
import { Failure } from "../../base/failures/failure.js";
import type { DestroyResult } from "../engine/operation-options.js";
import { renderClusterSummary, renderOrphansListCommand } from "../orphans/orphan-summary.js";
import type { StackOperation } from "../engine/operation-context.js";
import type { OperationFacts } from "../steps/step.js";
import { readNameAndProtection } from "../engine/stack-settings.js";

/**
 * Returns name and protection of the cluster from the stack's settings, even if the settings are
 * invalid.
 */
export async function readProtectionSettings(
  run: StackOperation,
): Promise<Pick<ClusterSpec, "name" | "protect">> {
  try {
    return await run.spec();
  } catch (error) {
    if (error instanceof Failure && error.code === "INVALID_CONFIG")
      return readNameAndProtection(run.sources());
    throw error;
  }
}

/** Facts of a destroy whose state has no resources. */
export interface EmptyStackFacts extends OperationFacts {
  readonly settings: Pick<ClusterSpec, "name">;
  swept: Pick<DestroyResult, "deleted" | "kept" | "hidden">;
}

/**
 * Throws if the project has a running cluster of this name. The caller's state is empty, so the
 * user has probably selected a backend other than the backend of the cluster. The error lists the
 * cluster's objects. Otherwise adds the remains of a former cluster of this name to the facts:
 * volumes, volume snapshots, floating IPs of Services, and objects that a destroy has kept.
 */
export async function requireNoOtherBackend(facts: EmptyStackFacts): Promise<void> {
  const { run } = facts;
  const { name: cluster } = facts.settings;
  const { found, hidden } = await findMarkedObjects(await run.cloud());
  const ours = found.filter(({ mark }) => mark.name === cluster);
  // A destroy may have kept an object that cannot be marked, such as a key pair.
  const living = ours.filter(
    (object) => !isKeptUnlessRequested(object) && !hasData(object) && canBeMarkedAsKept(object),
  );
  const kept = ours.map((one) => (one.kept === true ? { ...one, retained: true as const } : one));
  facts.swept = { deleted: [], kept, ...(hidden.length > 0 && { hidden }) };
  const [first] = living;
  if (!first) return;
  throw new Failure(
    "STACK_NOT_FOUND",
    `The state at ${removeUrlPassword(run.service.backend)} has no resources of stack '${run.stack}', so nothing was destroyed. The project has:\n${renderClusterSummary(living)}`,
    `Set PULUMI_BACKEND_URL to the backend with the state of this cluster. If that state is lost, \`${renderOrphansListCommand(first.mark.identity)}\` lists the cluster's objects and shows how to delete them.`,
  );
}
