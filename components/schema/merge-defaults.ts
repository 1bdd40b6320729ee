/**
 * Helpers for default values in a cluster's arguments. This file is separate, because config.ts
 * loads Pulumi's SDK.
 */

export type PlainObject = Readonly<Record<string, unknown>>;

export const isPlainObject = (value: unknown): value is PlainObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Merges two values. Objects are merged by key. Otherwise `over` replaces `under`, also for lists.
 * An undefined `over` replaces nothing.
 */
export function mergeDefaults(under: unknown, over: unknown): unknown {
  if (!isPlainObject(under) || !isPlainObject(over)) return over ?? under;
  const merged = Object.entries(over).map(([key, value]) => [
    key,
    mergeDefaults(under[key], value),
  ]);
  return { ...under, ...Object.fromEntries(merged) };
}

/**
 * Returns the first ed25519 key, or the first key if none is ed25519. Removes the key's comment,
 * because a changed comment would otherwise count as a changed key.
 */
export function choosePublicKey(keys: readonly string[]): string | undefined {
  const key = keys.find((line) => line.startsWith("ssh-ed25519 ")) ?? keys[0];
  return key?.split(" ").slice(0, 2).join(" ");
}
