/**
 * Objects that are merged into a cluster's arguments. Kept apart from config.ts, which loads
 * Pulumi's SDK.
 */

export type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Merges two values: `over` wins; objects are merged by key, lists are replaced. */
export function merge(under: unknown, over: unknown): unknown {
  if (!isFields(under) || !isFields(over)) return over ?? under;
  const merged = Object.entries(over).map(([key, value]) => [key, merge(under[key], value)]);
  return { ...under, ...Object.fromEntries(merged) };
}

/**
 * Returns the ed25519 key if there is one, otherwise the first, without its comment: the comment
 * may change.
 */
export function preferredKey(keys: readonly string[]): string | undefined {
  const key = keys.find((line) => line.startsWith("ssh-ed25519 ")) ?? keys[0];
  return key?.split(" ").slice(0, 2).join(" ");
}
