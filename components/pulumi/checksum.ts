import { createHash } from "node:crypto";

/**
 * Returns the SHA-256 of all parts in hexadecimal. An undefined part and an empty part give
 * different results.
 */
export function computeChecksum(...parts: readonly (string | undefined)[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}
