import { setTimeout as delay } from "node:timers/promises";
import { Failure } from "../../../base/failures/failure.js";

/** Part of the lab on this host that is to be removed. */
export interface RemovableResource {
  /** Name that can begin a sentence: "The interface labmgmt". */
  readonly name: string;
  /** Reports whether the part exists. Another process may have removed the part. */
  readonly isThere: () => boolean | Promise<boolean>;
  /** Tries once to remove the part. */
  readonly remove: () => Promise<unknown>;
  /**
   * Returns the reason why the part cannot be removed, if it is known. @default the error of the
   * last attempt
   */
  readonly kept?: () => Promise<string | undefined>;
  /** Hint for the user if the removal fails. @default a general sentence */
  readonly hint?: string;
}

/** Milliseconds between two attempts. */
const pause = 200;

/**
 * Removes a part of the lab. Retries after any error for `boundMs`, because processes and the
 * kernel release resources with a delay. The error messages differ between tools and languages, so
 * all errors are treated alike. At the end, throws a Failure with the part's name and the reason.
 */
export async function removeWithRetries(what: RemovableResource, boundMs = 20_000): Promise<void> {
  const deadline = Date.now() + boundMs;
  while (await what.isThere()) {
    try {
      await what.remove();
      return;
    } catch (error) {
      if (Date.now() >= deadline) throw await createRemovalFailure(what, error, boundMs);
    }
    await delay(pause);
  }
}

async function createRemovalFailure(
  what: RemovableResource,
  error: unknown,
  boundMs: number,
): Promise<Failure> {
  const kept = (await what.kept?.()) ?? (error instanceof Error ? error.message : String(error));
  return new Failure(
    "FAILED",
    `${what.name} is still there after ${boundMs / 1000} s: ${kept.replace(/\.?$/, ".")}`,
    what.hint ?? "End what uses it and run 'stackadm-lab down' again.",
  );
}
