import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/**
 * The passphrase that encrypts the secrets of the stacks: made once, 256 bits, readable by its owner only.
 * Losing it loses the stacks' secrets, so an existing file is never written again.
 */
export function ensurePassphraseFile(path: string): string {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  if (!existsSync(path))
    writeFileSync(path, `${randomBytes(32).toString("base64url")}\n`, { mode: 0o600, flag: "wx" });
  chmodSync(path, 0o600);
  return path;
}
