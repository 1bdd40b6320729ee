import { accessSync, constants, existsSync, statSync } from "node:fs";
import { getStatePath } from "../../base/paths.js";
import { removeUrlPassword } from "../../base/url-passwords.js";
import { Failure } from "../../base/failures/failure.js";
import { isDefaultBackend } from "./choose-backend.js";
import { ensurePassphraseFile } from "./create-passphrase-file.js";
import { describeNamesake } from "./stack-places.js";

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
  /** Returns the URLs of other backends that have the stack, for the error. */
  readonly listPlaces: () => readonly string[];
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
    "Name the file with the passphrase of the stacks. If the state is in stackadm's own directory, you can unset the variable: stackadm then uses its own passphrase.",
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
 * Returns the error for a backend of the user without a passphrase. This program creates no
 * passphrase for such a backend, and does not use the passphrase of this computer: `pulumi` and
 * other computers would not find it, and all secrets in the state would be lost with the computer.
 */
function missingPassphraseError(
  { backend, listPlaces }: Pick<PassphraseOptions, "backend" | "listPlaces">,
  own: string,
): Failure {
  const existing = existsSync(own)
    ? ` If it was created with the passphrase of this machine, that is ${own}.`
    : "";
  const [place] = listPlaces();
  const elsewhere = place === undefined ? "" : `${describeNamesake(place)} Otherwise: `;
  return new Failure(
    "INVALID_USAGE",
    `${noneIsNamed(backend)}. stackadm creates one only for its own directory.`,
    `${elsewhere}Set PULUMI_CONFIG_PASSPHRASE_FILE to a file with the passphrase with which the stack was created.${existing} For a first stack, create one and keep it: openssl rand -base64 32 >passphrase.`,
  );
}

/**
 * Returns the variable that tells the engine where the passphrase is. Returns no variable if the
 * user's environment already sets the passphrase. Otherwise uses the passphrase file in the user's
 * state directory, but only with stackadm's own backend. Creates this file if it does not exist.
 */
export function preparePassphraseEnvironment(
  env: NodeJS.ProcessEnv,
  { backend, needed, note, listPlaces }: PassphraseOptions,
): Record<string, string> {
  if (env["PULUMI_CONFIG_PASSPHRASE"] !== undefined) return {};
  const named = env["PULUMI_CONFIG_PASSPHRASE_FILE"] ?? "";
  if (named !== "") {
    requirePassphraseFile(named);
    return {};
  }
  if (needed === false || keepsSecrets(backend)) return {};
  const own = getStatePath("passphrase");
  if (!isDefaultBackend(backend)) {
    if (needed !== "optional") throw missingPassphraseError({ backend, listPlaces }, own);
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
