import { randomBytes } from "node:crypto";
import { chmodSync, existsSync } from "node:fs";
import { writeNew } from "../../base/files.js";

/**
 * The passphrase that encrypts the secrets of the stacks: made once, 256 bits, readable by its owner only.
 * Losing it loses the stacks' secrets, so an existing file is never written again.
 */
export function ensurePassphraseFile(path: string): string {
  // Another command may do the same at this moment: the first one's counts.
  if (!existsSync(path)) writeNew(path, `${randomBytes(32).toString("base64url")}\n`);
  chmodSync(path, 0o600);
  return path;
}
