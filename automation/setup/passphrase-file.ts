import { randomBytes } from "node:crypto";
import { chmodSync, existsSync } from "node:fs";
import { createFile } from "../../base/atomic-files.js";

/**
 * Creates the file with the passphrase for stacks' secrets: 256 random bits, readable only by the
 * owner. Never overwrites a file: a lost passphrase means lost secrets.
 */
export function ensurePassphraseFile(path: string): string {
  // Two commands may do this at the same time: `createFile` keeps the first file.
  if (!existsSync(path)) createFile(path, `${randomBytes(32).toString("base64url")}\n`);
  chmodSync(path, 0o600);
  return path;
}
