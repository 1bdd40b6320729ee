import { derive } from "./wire.js";

/** The key in base64 with which the API servers encrypt Secrets: the same for the same seed, and telling nothing about any other. */
export function encryptionKey(seed: string): string {
  if (Buffer.from(seed, "base64").length < 32) throw new RangeError("the seed is too short");
  return derive(seed, "encryption/secrets/1", 32).toString("base64");
}
