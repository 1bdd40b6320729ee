import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { PinnedManifest } from "../../base/versions/pod-network-manifests.js";

/** Returns the SHA-256 of a text in hexadecimal. */
export const digestOf = (text: string): string => createHash("sha256").update(text).digest("hex");

/**
 * Returns a small manifest with the same structure as the published manifest of this pod network.
 */
export function smallManifest(kind: "calico" | "canal"): PinnedManifest {
  const source = join(__dirname, `../fixtures/manifests/${kind}.yaml`);
  return { source, sha256: digestOf(readFileSync(source, "utf8")) };
}
