import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * GPG key in ASCII armor, in an expired and a prolonged version, and a text that the key signed.
 */
export interface ExpiringKey {
  readonly fingerprint: string;
  /** Version of the key from 2024, which was valid for 30 days. */
  readonly expired: string;
  /** Version of the key that is valid for two years from now. */
  readonly prolonged: string;
  /** Text with a clear-text signature of the key from 2024. */
  readonly signed: string;
}

/** Creates a key, prolongs its validity, and signs `text` with it. Needs the command `gpg`. */
export function expiringKey(text: string): ExpiringKey {
  const home = mkdtempSync(join(tmpdir(), "stackadm-gpg-"));
  const gpg = (args: readonly string[], input = ""): string =>
    execFileSync("gpg", ["--homedir", home, "--batch", "--armor", "--passphrase", "", ...args], {
      input,
      encoding: "utf8",
      stdio: ["pipe", "pipe", "ignore"],
    });
  const long = (day: string): readonly string[] => ["--faked-system-time", `202401${day}T000000`];
  try {
    gpg([...long("01"), "--quick-generate-key", "repository", "ed25519", "sign", "30d"]);
    const expired = gpg(["--export"]);
    const signed = gpg([...long("02"), "--clear-sign"], text);
    const [, fingerprint = ""] = /^fpr:+(\w+):/m.exec(gpg(["--with-colons", "--list-keys"])) ?? [];
    gpg(["--quick-set-expire", fingerprint, "2y"]);
    return { fingerprint, expired, prolonged: gpg(["--export"]), signed };
  } finally {
    execFileSync("gpgconf", ["--homedir", home, "--kill", "gpg-agent"]);
    rmSync(home, { recursive: true });
  }
}
