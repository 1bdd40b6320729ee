import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Armored gpg key in two versions (expired and prolonged), and a text that it signed. */
export interface ExpiringKey {
  readonly fingerprint: string;
  /** Copy of 2024, which was valid for 30 days. */
  readonly expired: string;
  /** Copy that is valid for two years from now. */
  readonly prolonged: string;
  /** Text that this key clear-signed in 2024. */
  readonly signed: string;
}

/** Creates an expired key, prolongs it, and signs `text` with it. Needs the command `gpg`. */
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
