import { z } from "zod";
import { isInvalidFormatError } from "../../../base/failures/expected-errors.js";
import { Failure } from "../../../base/failures/failure.js";
import { runPulumi, type StateAccess } from "../stack-state.js";

/*
 * Record of an operation that has an owner. A tag of the stack contains the record. All backends
 * store tags next to the stack's state, and no tag command of the engine needs the stack's lock. See
 * docs/decisions/0069-stack-owners.md.
 */

/** Name of the environment variable with the owner of a command's operations. */
export const ownerVariable = "STACKADM_OWNER";

const ownerPattern = /^[A-Za-z0-9][A-Za-z0-9._/@:-]{0,99}$/;

/** Name of the stack's tag that contains the record. */
const tagName = "stackadm:heartbeat";

/**
 * Time limit in milliseconds for a command that reads or writes the tag. A heartbeat runs two such
 * commands, and must be able to succeed within `heartbeatLimits.lease` on a busy machine.
 */
const tagMilliseconds = 40_000;

const recordSchema = z.object({
  owner: z.string(),
  /** UUID of the lock that the operation's engine holds. */
  lock: z.string(),
  /** Random name of the writer: one engine's process, or one command that takes the stack over. */
  run: z.string(),
  /** Number of the heartbeat. Each heartbeat of a run has a larger number. */
  beat: z.number(),
});
export type OwnerRecord = Readonly<z.infer<typeof recordSchema>>;

/**
 * Returns the owner in the environment. Returns undefined if the variable is not set or empty.
 * Throws if the value cannot be the name of an owner.
 */
export function readOwner({ [ownerVariable]: owner = "" }: NodeJS.ProcessEnv): string | undefined {
  if (owner === "") return undefined;
  if (ownerPattern.test(owner)) return owner;
  throw new Failure(
    "INVALID_USAGE",
    `${ownerVariable}: ${JSON.stringify(owner)} is not the name of an owner.`,
    "Write a name like prod-pipeline: at most 100 letters, digits and ._/@:-, beginning with a letter or a digit.",
  );
}

/** Exit codes of the engine, also of a command that fails. */
const anyCode = [0, 1, 2, 3, 4, 5, 6, 7, 8, 255];

/**
 * Returns the record of the last operation with an owner. Returns undefined if the stack does not
 * exist or has no readable record.
 */
export async function readOwnerRecord(access: StateAccess): Promise<OwnerRecord | undefined> {
  const { code, stdout, stderr } = await runPulumi(access, ["stack", "tag", "get", tagName], {
    accept: anyCode,
    timeout: tagMilliseconds,
  });
  if (code === 0) return parseRecord(stdout);
  if (/no stack named|stack tag .* not found/.test(stderr)) return undefined;
  throw new Failure("FAILED", `The tags of the stack cannot be read: ${stderr.trim()}`);
}

/** Returns the record. Returns undefined if the text is not a record of this release. */
function parseRecord(text: string): OwnerRecord | undefined {
  try {
    return recordSchema.parse(JSON.parse(text));
  } catch (error) {
    if (isInvalidFormatError(error)) return undefined;
    throw error;
  }
}

/** Stores the record. Replaces the record of another operation. */
export async function writeOwnerRecord(access: StateAccess, record: OwnerRecord): Promise<void> {
  const { owner, lock, run, beat } = record;
  const text = JSON.stringify({ owner, lock, run, beat });
  await runPulumi(access, ["stack", "tag", "set", tagName, text], { timeout: tagMilliseconds });
}
