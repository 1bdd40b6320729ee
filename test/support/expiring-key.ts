import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A key of gpg, armored, as it was published first and as it is now, and texts that it has signed. */
export interface ExpiringKey {
  readonly fingerprint: string;
  /** Its copy from 2024, which was valid for 30 days. */
  readonly expired: string;
  /** Its copy that is valid for two years from now on. */
  readonly prolonged: string;
  /** Clear-signed by it, in 2024. */
  readonly signed: string;
}

/** Makes a key that has expired and was prolonged, and signs a text with it. Needs the command `gpg`. */
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
