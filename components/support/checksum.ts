import { createHash } from "node:crypto";

/** SHA-256 over all parts, hexadecimal; a part that is absent differs from an empty one. */
export function checksum(...parts: readonly (string | undefined)[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}
