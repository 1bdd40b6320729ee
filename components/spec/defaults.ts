/** What is laid over each other to become a cluster's arguments. Apart from config.ts, which loads Pulumi's SDK. */

export type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** `over` wins; objects are merged, lists are not. */
export function merge(under: unknown, over: unknown): unknown {
  if (!isFields(under) || !isFields(over)) return over ?? under;
  const merged = Object.entries(over).map(([key, value]) => [key, merge(under[key], value)]);
  return { ...under, ...Object.fromEntries(merged) };
}

/** An ed25519 key if there is one, without its comment, which may change. */
export function preferredKey(keys: readonly string[]): string | undefined {
  const key = keys.find((line) => line.startsWith("ssh-ed25519 ")) ?? keys[0];
  return key?.split(" ").slice(0, 2).join(" ");
}
