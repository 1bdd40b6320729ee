import { unpacked } from "../../components/support/packed-script.js";

/** The mark of a secret among the inputs that the mocks were given. */
export const isSecret = (value: unknown): boolean =>
  typeof value === "object" &&
  value !== null &&
  Object.values(value).includes("1b47061264138c4ac30d75fd1eb44270");

/** Everything in `value` that is not inside a secret, as text. */
export const clear = (value: unknown): string =>
  JSON.stringify(value, (_key, inner: unknown) => (isSecret(inner) ? "[secret]" : inner));

/** Plain text of a value that may be secret; of what a script reads, the script. */
export const plain = (value: unknown): string =>
  unpacked(String(isSecret(value) ? (value as { value: unknown }).value : value));
