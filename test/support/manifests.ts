import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { PinnedManifest } from "../../base/manifests.js";

/** SHA-256 of a text, hexadecimal. */
export const digestOf = (text: string): string => createHash("sha256").update(text).digest("hex");

/** A small manifest of the same structure as the published one. */
export function smallManifest(kind: "calico" | "canal"): PinnedManifest {
  const source = join(__dirname, `../fixtures/manifests/${kind}.yaml`);
  return { source, sha256: digestOf(readFileSync(source, "utf8")) };
}
