import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writePrivate } from "../../base/files.js";
import { run } from "../../base/run.js";

/** The key of one of the lab's apt repositories. It signs nothing but lab packages and stays in this cache. */
export interface SigningKey {
  /** 40 hex digits, upper case. */
  readonly fingerprint: string;
  /** Armored. */
  readonly publicKey: string;
  /** Armored copy of the key with an expiry date that has passed, as upstream leaves it in the repositories of ended minors. */
  expired(): Promise<string>;
  /** Signs a Release file: clear-signed for InRelease, detached and armored for Release.gpg. */
  sign(text: string): Promise<{ readonly inline: string; readonly detached: string }>;
}

export interface KeyOptions {
  /** A subkey signs, as with Docker. Default: the key itself does, as with Kubernetes. Counts when the key is made. */
  readonly subkey?: boolean;
}

const owner = "stackadm lab repository";

/**
 * The key in `directory` (secret.asc, mode 0600), made at the first call. gpg works in a temporary home of its own:
 * nothing of the user's keyring is read or changed, and its agent is ended with the home.
 */
export async function signingKey(
  directory: string,
  { subkey = false }: KeyOptions = {},
): Promise<SigningKey> {
  const secret = join(directory, "secret.asc");
  if (!existsSync(secret)) {
    const armored = await withHome(async (gpg) => {
      const make = (...words: string[]) => gpg(["--passphrase", "", ...words, "never"]);
      await make("--quick-generate-key", owner, "ed25519", subkey ? "cert" : "sign");
      if (subkey) {
        const made = fingerprintOf(await gpg(["--with-colons", "--list-keys"]));
        await make("--quick-add-key", made, "ed25519", "sign");
      }
      return gpg(["--armor", "--export-secret-keys"]);
    });
    writePrivate(secret, armored);
  }
  const material = readFileSync(secret, "utf8");
  const [publicKey, listing] = await withHome(async (gpg) => {
    await gpg(["--import"], material);
    return [await gpg(["--armor", "--export"]), await gpg(["--with-colons", "--list-keys"])];
  });
  const fingerprint = fingerprintOf(listing);
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

/** The key with this fingerprint, armored, out of a text that may hold several; undefined when it is not among them. */
export function pinnedKey(armored: string, fingerprint: string): Promise<string | undefined> {
  return withHome(async (gpg) => {
    await gpg(["--import"], armored);
    const listing = await gpg(["--with-colons", "--list-keys"]);
    const primary = [...listing.matchAll(/^pub:.*\nfpr:+(\w+):/gm)].map(([, found]) => found);
    return primary.includes(fingerprint) ? gpg(["--armor", "--export", fingerprint]) : undefined;
  });
}

/** The primary key's fingerprint in the output of `gpg --with-colons`. */
export function fingerprintOf(listing: string): string {
  const line = listing.split("\n").find((candidate) => candidate.startsWith("fpr:"));
  const fingerprint = line?.split(":")[9];
  if (!fingerprint) throw new Error("gpg lists no key after importing one");
  return fingerprint;
}

type Gpg = (args: readonly string[], input?: string) => Promise<string>;

async function withHome<T>(work: (gpg: Gpg) => Promise<T>): Promise<T> {
  // short on purpose: the agent's socket lies in it and a socket's path has at most 107 bytes
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
