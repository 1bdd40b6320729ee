import { derive } from "./wire.js";

/**
 * Returns the key with which the API servers encrypt Secrets, base64. The same seed always gives
 * the same key, and the key reveals no other secret of the seed.
 */
export function encryptionKey(seed: string): string {
  if (Buffer.from(seed, "base64").length < 32) throw new RangeError("the seed is too short");
  return derive(seed, "encryption/secrets/1", 32).toString("base64");
}
