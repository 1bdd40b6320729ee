import { accessSync, constants, existsSync, statSync } from "node:fs";
import { getStatePath } from "../../base/paths.js";
import { removeUrlPassword } from "../../base/url-passwords.js";
import { Failure } from "../../base/failures/failure.js";
import { parseBackendDirectory } from "../pulumi/backend.js";
import { ensurePassphraseFile } from "./create-passphrase-file.js";

export interface PassphraseOptions {
  /** URL of the state backend. */
  readonly backend: string;
  /**
   * Whether the stack's secrets need a passphrase. With "optional", a missing passphrase is only
   * reported to `note`.
   */
  readonly needed: boolean | "optional";
  /** Called with a sentence if a passphrase was created or is missing. */
  readonly note: (text: string) => void;
}

function requirePassphraseFile(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isFile() === true && readableFile(path)) return;
  const why = !found
    ? "does not exist"
    : found.isFile()
      ? "cannot be read by you"
      : "is not a file";
  throw new Failure(
    "INVALID_USAGE",
    `PULUMI_CONFIG_PASSPHRASE_FILE: ${path} ${why}.`,
    "Name the file with the passphrase of the stacks. If the backend is a directory, you can unset the variable: stackadm then creates a passphrase.",
  );
}

function readableFile(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

/** Returns whether the backend is a Pulumi service, which encrypts secrets without a passphrase. */
const keepsSecrets = (backend: string): boolean => /^https?:/.test(backend);

const noneIsNamed = (backend: string): string =>
  `No passphrase is set for the secrets of the stacks at ${removeUrlPassword(backend)}`;

/**
 * Returns the error for a shared backend without a passphrase. This program creates no passphrase
 * for a shared backend, and does not use the passphrase of this computer. All secrets in the state
 * would be lost with the computer.
 */
function missingSharedPassphraseError(backend: string, own: string): Failure {
  const existing = existsSync(own)
    ? ` If it was created with the passphrase of this machine, that is ${own}.`
    : "";
  return new Failure(
    "INVALID_USAGE",
    `${noneIsNamed(backend)}, and one of this machine alone would be lost with it.`,
    `Set PULUMI_CONFIG_PASSPHRASE_FILE to a file with the passphrase with which the stack was created.${existing} For a first stack, create one and keep it: openssl rand -base64 32 >passphrase.`,
  );
}

/**
 * Returns the variable that tells the engine where the passphrase is. Returns no variable if the
 * user's environment already sets the passphrase. Otherwise uses the passphrase file in the user's
 * state directory, but only if the backend is a directory. Creates this file if it does not exist.
 */
export function preparePassphraseEnvironment(
  env: NodeJS.ProcessEnv,
  { backend, needed, note }: PassphraseOptions,
): Record<string, string> {
  if (env["PULUMI_CONFIG_PASSPHRASE"] !== undefined) return {};
  const named = env["PULUMI_CONFIG_PASSPHRASE_FILE"] ?? "";
  if (named !== "") {
    requirePassphraseFile(named);
    return {};
  }
  if (needed === false || keepsSecrets(backend)) return {};
  const own = getStatePath("passphrase");
  if (parseBackendDirectory(backend) === undefined) {
    if (needed !== "optional") throw missingSharedPassphraseError(backend, own);
    note(
      `${noneIsNamed(backend)}, so these variables contain none: stacks with a passphrase also need PULUMI_CONFIG_PASSPHRASE_FILE.`,
    );
    return {};
  }
  if (!existsSync(own))
    note(
      `Created ${own} with the passphrase of the stacks' secrets. Keep a copy: without it, no one can read the secrets.`,
    );
  return { PULUMI_CONFIG_PASSPHRASE_FILE: ensurePassphraseFile(own) };
}
