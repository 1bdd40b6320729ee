import { createHash } from "node:crypto";

/** Returns the SHA-256 of all parts in hexadecimal. An undefined part differs from an empty one. */
export function checksum(...parts: readonly (string | undefined)[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}
