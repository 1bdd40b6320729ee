import type { ClusterSpec } from "../../components/config/cluster-spec.js";
import { ClusterError } from "../pulumi/cluster-error.js";
import type { StackOperation } from "../engine/operation-context.js";
import { identitiesOf, type StateExport } from "../pulumi/stack-state.js";
import { parseUrn, shortType } from "../pulumi/urn.js";

/**
 * Returns the error for a stack that must not be destroyed. Undefined for any other stack. A stack
 * is protected by its present settings, or by resources in the state that the last `up` protected.
 * The check is needed before the destroy: the engine would refuse a protected resource only after
 * it has deleted all others.
 */
export function protectionOf(
  { stack }: StackOperation,
  settings: Pick<ClusterSpec, "name" | "protect">,
  state: StateExport | undefined,
): ClusterError | undefined {
  const file = `Pulumi.${stack}.yaml`;
  const held = (state?.deployment.resources ?? [])
    .filter(({ protect }) => protect === true)
    .map(({ urn }) => `${shortType(parseUrn(urn).type)} '${parseUrn(urn).name}'`);
  // The error names only one protected resource, because a user's own program may protect all its
  // resources.
  const more = held.length > 1 ? ` and ${String(held.length - 1)} more` : "";
  const reasons = [
    ...(settings.protect ? [`${file} says \`protect: true\``] : []),
    ...(held.length > 0 ? [`the state protects ${held.slice(0, 1).join("")}${more}`] : []),
  ];
  if (reasons.length === 0) return undefined;
  return new ClusterError(
    "PROTECTED",
    `The cluster '${settings.name}' is protected: ${reasons.join(", and ")}. Nothing was changed.`,
    `To destroy it, write \`protect: false\` in ${file} and run \`npx stackadm up --stack ${stack}\` first.`,
  );
}

export function requireUnprotected(...of: Parameters<typeof protectionOf>): void {
  const refusal = protectionOf(...of);
  if (refusal) throw refusal;
}

/**
 * Throws if the state has other clusters than those that the user has confirmed.
 *
 * @param meant identities of the confirmed clusters. Undefined: no check
 */
export function requireConfirmedClusters(
  state: StateExport | undefined,
  meant: readonly string[] | undefined,
): void {
  if (meant === undefined) return;
  const held = identitiesOf(state);
  const same = held.size === meant.length && meant.every((identity) => held.has(identity));
  if (same) return;
  const words = (identities: readonly string[]): string => identities.join(", ") || "none";
  throw new ClusterError(
    "FAILED",
    `The state has another cluster than the one that was shown: identity ${words([...held])} instead of ${words(meant)}. Nothing was changed.`,
    "Another operation changed the stack meanwhile. Run the same command again: it shows the present state.",
  );
}
