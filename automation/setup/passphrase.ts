import { accessSync, constants, existsSync, statSync } from "node:fs";
import { stateDirectory } from "../../base/paths.js";
import { withoutPassword } from "../../base/urls.js";
import { UserError } from "../../base/user-error.js";
import { backendDirectory } from "./backend.js";
import { ensurePassphraseFile } from "./secrets.js";

export interface PassphraseOptions {
  /** URL of the state backend. */
  readonly backend: string;
  /**
   * Whether the stack's secrets need a passphrase. "optional": a missing one is reported instead of
   * refused.
   */
  readonly needed: boolean | "optional";
  /** Called with a sentence about a passphrase that was created or is missing. */
  readonly note: (text: string) => void;
}

function requirePassphraseFile(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isFile() === true && readableFile(path)) return;
  const why = !found ? "is not there" : found.isFile() ? "may not be read" : "is no file";
  throw new UserError(
    `PULUMI_CONFIG_PASSPHRASE_FILE: ${path} ${why}.`,
    "Name the file with the passphrase of the stacks; where the backend is a directory, unset it to have one made.",
    2,
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

/** Returns whether the backend is Pulumi's own service, which encrypts the secrets itself. */
const keepsSecrets = (backend: string): boolean => /^https?:/.test(backend);

const noneIsNamed = (backend: string): string =>
  `No passphrase is named for the secrets of the stacks at ${withoutPassword(backend)}`;

/**
 * Returns the error for a shared backend without a passphrase. A passphrase created here would
 * exist only on this machine: if the machine is deleted, every secret in the state is lost.
 */
const notMadeHere = (backend: string): UserError =>
  new UserError(
    `${noneIsNamed(backend)}, and one that is made here would be lost with this machine.`,
    "Let PULUMI_CONFIG_PASSPHRASE_FILE name a file with the one with which the stack was made; for a first stack make one that you keep: openssl rand -base64 32 >passphrase.",
    2,
  );

/**
 * Returns the variable for the engine's passphrase: nothing if the user names one, or else this
 * user's own file, which is created if it does not exist.
 */
export function passphraseEnvironment(
  env: NodeJS.ProcessEnv,
  { backend, needed, note }: PassphraseOptions,
): Record<string, string> {
  if (env["PULUMI_CONFIG_PASSPHRASE"] !== undefined) return {};
  const named = env["PULUMI_CONFIG_PASSPHRASE_FILE"] ?? "";
  if (named !== "") {
    requirePassphraseFile(named);
    return {};
  }
  const own = stateDirectory("passphrase");
  if (!existsSync(own)) {
    if (!needed || keepsSecrets(backend)) return {};
    if (backendDirectory(backend) === undefined) {
      if (needed !== "optional") throw notMadeHere(backend);
      note(
        `${noneIsNamed(backend)}, so there is none among the variables: stacks that have one need PULUMI_CONFIG_PASSPHRASE_FILE, too.`,
      );
      return {};
    }
    note(
      `${own} is made: the passphrase of the stacks' secrets. Keep a copy of it: without it nobody can read them again.`,
    );
  }
  return { PULUMI_CONFIG_PASSPHRASE_FILE: ensurePassphraseFile(own) };
}
