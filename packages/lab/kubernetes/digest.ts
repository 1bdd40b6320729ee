import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { pipeline } from "node:stream/promises";

/** Returns the SHA-256 of a text or buffer, in hex. */
export function computeDigest(content: string | Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}

/** Returns the SHA-256 of a file of any size, in hex. */
export async function computeFileDigest(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path, { highWaterMark: 1 << 20 }), hash);
  return hash.digest("hex");
}
