import { randomBytes } from "node:crypto";
import { chmodSync, existsSync } from "node:fs";
import { writeNew } from "../../base/files.js";

/**
 * Creates the file with the passphrase for the secrets of the stacks: 256 bits, readable by its
 * owner only. Never overwrites a file, because losing the passphrase loses the secrets.
 */
export function ensurePassphraseFile(path: string): string {
  // Two commands may do this at the same time: the first file counts.
  if (!existsSync(path)) writeNew(path, `${randomBytes(32).toString("base64url")}\n`);
  chmodSync(path, 0o600);
  return path;
}
