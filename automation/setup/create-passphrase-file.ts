import { randomBytes } from "node:crypto";
import { chmodSync, existsSync } from "node:fs";
import { createPrivateFile } from "../../base/atomic-files.js";

/**
 * Creates the file with the passphrase for the stacks' secrets: 256 random bits, readable only by
 * the owner. Never overwrites an existing file, because all secrets would be lost with the old
 * passphrase.
 */
export function ensurePassphraseFile(path: string): string {
  // If two commands create the file at the same time, `createPrivateFile` keeps the first file.
  if (!existsSync(path)) createPrivateFile(path, `${randomBytes(32).toString("base64url")}\n`);
  chmodSync(path, 0o600);
  return path;
}
