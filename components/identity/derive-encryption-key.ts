import { deriveBytes } from "./openssh-encoding.js";

/**
 * Returns the key with which API servers encrypt Secrets, in base64. The same seed always gives the
 * same key. The key reveals no other secret that is derived from the seed.
 */
export function deriveEncryptionKey(seed: string): string {
  if (Buffer.from(seed, "base64").length < 32) throw new RangeError("the seed is too short");
  return deriveBytes(seed, "encryption/secrets/1", 32).toString("base64");
}
