import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { linkNew } from "../../base/files.js";

/**
 * The passphrase that encrypts the secrets of the stacks: made once, 256 bits, readable by its owner only.
 * Losing it loses the stacks' secrets, so an existing file is never written again.
 */
export function ensurePassphraseFile(path: string): string {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  if (!existsSync(path)) {
    // Another command may do the same at this moment: the first one's counts.
    const aside = `${path}.${process.pid}`;
    writeFileSync(aside, `${randomBytes(32).toString("base64url")}\n`, { mode: 0o600 });
    linkNew(aside, path);
    rmSync(aside);
  }
  chmodSync(path, 0o600);
  return path;
}
