/** Returns whether a value is a secret in the form in which Pulumi's mocks receive it. */
export const isSecret = (value: unknown): boolean =>
  typeof value === "object" &&
  value !== null &&
  Object.values(value).includes("1b47061264138c4ac30d75fd1eb44270");

/** Returns `value` as JSON in which every secret is replaced by `[secret]`. */
export const clear = (value: unknown): string =>
  JSON.stringify(value, (_key, inner: unknown) => (isSecret(inner) ? "[secret]" : inner));

/** Returns the plain text of a value that may be secret. */
export const plain = (value: unknown): string =>
  String(isSecret(value) ? (value as { value: unknown }).value : value);
