import type { ClusterSpec } from "../../components/config/cluster-spec.js";
import { Failure } from "../../base/failures/failure.js";
import type { StackOperation } from "../engine/operation-context.js";
import type { OperationFacts } from "../steps/step.js";
import { readProtectionSettings } from "./other-backend.js";
import { findClusterIdentities, type StateExport } from "../pulumi/stack-state.js";
import { parseUrn, getShortType } from "../pulumi/urn.js";

/**
 * Returns the error for a protected stack, which must not be destroyed. Returns undefined for other
 * stacks. A stack is protected by its present settings, or by resources in the state that the last
 * `up` protected. The check runs before the destroy, because the engine would delete all other
 * resources before it refuses a protected resource.
 */
export function findProtectionError(
  { stack }: StackOperation,
  settings: Pick<ClusterSpec, "name" | "protect">,
  state: StateExport | undefined,
): Failure | undefined {
  const file = `Pulumi.${stack}.yaml`;
  const protectedResources = (state?.deployment.resources ?? [])
    .filter(({ protect }) => protect === true)
    .map(({ urn }) => `${getShortType(parseUrn(urn).type)} '${parseUrn(urn).name}'`);
  // The error names only one protected resource, because a user's own program may protect all its
  // resources.
  const more =
    protectedResources.length > 1 ? ` and ${String(protectedResources.length - 1)} more` : "";
  const reasons = [
    ...(settings.protect ? [`${file} says \`protect: true\``] : []),
    ...(protectedResources.length > 0
      ? [`the state protects ${protectedResources.slice(0, 1).join("")}${more}`]
      : []),
  ];
  if (reasons.length === 0) return undefined;
  return new Failure(
    "PROTECTED",
    `The cluster '${settings.name}' is protected: ${reasons.join(", and ")}. Nothing was changed.`,
    `To destroy it, write \`protect: false\` in ${file} and run \`stackadm up --stack ${stack}\` first.`,
  );
}

/** Facts of an operation that deletes clusters. */
export interface ProtectionFacts extends OperationFacts {
  /**
   * Identities of the clusters that were shown to the user. Absent: all clusters that the state had
   * at the beginning.
   */
  readonly meant?: readonly string[] | undefined;
  settings: Pick<ClusterSpec, "name" | "protect">;
}

/** Reads name and protection, even if other settings are invalid. */
export async function readProtection(facts: ProtectionFacts): Promise<void> {
  facts.settings = await readProtectionSettings(facts.run);
}

/**
 * Throws if the clusters in the state differ from the clusters that were shown to the user, or if a
 * cluster is protected. Steps call this guard again when they hold the stack's lock.
 */
export function requireAgreedClusters(facts: ProtectionFacts): void {
  const { run, initial, state, settings, meant = [...findClusterIdentities(initial)] } = facts;
  requireConfirmedClusters(state, meant);
  const refusal = findProtectionError(run, settings, state);
  if (refusal) throw refusal;
}

/** Throws if the clusters in the state differ from the clusters that were shown to the user. */
function requireConfirmedClusters(state: StateExport | undefined, meant: readonly string[]): void {
  const present = findClusterIdentities(state);
  const same = present.size === meant.length && meant.every((identity) => present.has(identity));
  if (same) return;
  const words = (identities: readonly string[]): string => identities.join(", ") || "none";
  throw new Failure(
    "FAILED",
    `The state has another cluster than the one that was shown: identity ${words([...present])} instead of ${words(meant)}. Nothing was changed.`,
    "Another operation changed the stack meanwhile. Run the same command again: it shows the present state.",
  );
}
