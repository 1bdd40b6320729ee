import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { replacePrivateFile } from "../../../../base/atomic-files.js";
import { run } from "../../../../base/run-command.js";

/**
 * Key of one of the lab's apt repositories, which signs only the lab's packages and does not leave
 * the cache.
 */
export interface SigningKey {
  /** Fingerprint of the key, 40 upper-case hex digits. */
  readonly fingerprint: string;
  /** Public key, armored. */
  readonly publicKey: string;
  /**
   * Returns an expired copy of the public key, armored. Upstream's repositories have expired keys
   * for minors that have reached their end of life.
   */
  expired(): Promise<string>;
  /** Signs a Release file: clear-signed for InRelease, detached and armored for Release.gpg. */
  sign(text: string): Promise<{ readonly inline: string; readonly detached: string }>;
}

export interface SigningKeyOptions {
  /**
   * Whether a subkey signs, as in Docker's repository. This option has an effect only when the key
   * is created. @default the key itself signs, as with Kubernetes
   */
  readonly subkey?: boolean;
}

const owner = "stackadm lab repository";

/**
 * Returns the key in `directory` (secret.asc, mode 0600). The first call creates the key. gpg uses
 * a temporary home folder, so the user's keyring is neither read nor changed.
 */
export async function ensureSigningKey(
  directory: string,
  { subkey = false }: SigningKeyOptions = {},
): Promise<SigningKey> {
  const secret = join(directory, "secret.asc");
  if (!existsSync(secret)) {
    const armored = await withHome(async (gpg) => {
      const make = (...words: string[]) => gpg(["--passphrase", "", ...words, "never"]);
      await make("--quick-generate-key", owner, "ed25519", subkey ? "cert" : "sign");
      if (subkey) {
        const made = parseFingerprint(await gpg(["--with-colons", "--list-keys"]));
        await make("--quick-add-key", made, "ed25519", "sign");
      }
      return gpg(["--armor", "--export-secret-keys"]);
    });
    replacePrivateFile(secret, armored);
  }
  const material = readFileSync(secret, "utf8");
  const [publicKey, listing] = await withHome(async (gpg) => {
    await gpg(["--import"], material);
    return [await gpg(["--armor", "--export"]), await gpg(["--with-colons", "--list-keys"])];
  });
  const fingerprint = parseFingerprint(listing);
  return {
    fingerprint,
    publicKey,
    expired: () =>
      withHome(async (gpg) => {
        await gpg(["--import"], material);
        await gpg(["--passphrase", "", "--quick-set-expire", fingerprint, "seconds=1"]);
        return gpg(["--armor", "--export"]);
      }),
    sign: (text) =>
      withHome(async (gpg) => {
        await gpg(["--import"], material);
        const options = ["--digest-algo", "SHA512", "--armor"];
        return {
          inline: await gpg([...options, "--clear-sign"], text),
          detached: await gpg([...options, "--detach-sign"], text),
        };
      }),
  };
}

/**
 * Returns the armored key with this fingerprint from a text that may contain several keys, or
 * undefined.
 */
export function findPinnedKey(armored: string, fingerprint: string): Promise<string | undefined> {
  return withHome(async (gpg) => {
    await gpg(["--import"], armored);
    const listing = await gpg(["--with-colons", "--list-keys"]);
    const primary = [...listing.matchAll(/^pub:.*\nfpr:+(\w+):/gm)].map(([, found]) => found);
    return primary.includes(fingerprint) ? gpg(["--armor", "--export", fingerprint]) : undefined;
  });
}

/** Returns the primary key's fingerprint in the output of `gpg --with-colons`. */
export function parseFingerprint(listing: string): string {
  const line = listing.split("\n").find((candidate) => candidate.startsWith("fpr:"));
  const fingerprint = line?.split(":")[9];
  if (!fingerprint) throw new Error("gpg lists no key after importing one");
  return fingerprint;
}

type Gpg = (args: readonly string[], input?: string) => Promise<string>;

async function withHome<T>(work: (gpg: Gpg) => Promise<T>): Promise<T> {
  // The path must be short, because it contains the agent's socket. The path of a socket has at
  // most 107 bytes.
  const home = mkdtempSync(join(tmpdir(), "stackadm-gpg-"));
  const env = { ...process.env, GNUPGHOME: home };
  const common = ["--batch", "--quiet", "--no-tty", "--pinentry-mode", "loopback"];
  try {
    return await work(async (args, input) => {
      return (await run("gpg", [...common, ...args], { env, input })).stdout;
    });
  } finally {
    await run("gpgconf", ["--kill", "all"], { env });
    rmSync(home, { recursive: true, force: true });
  }
}
