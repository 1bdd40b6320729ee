import { setTimeout as delay } from "node:timers/promises";
import { UserError } from "../../base/user-error.js";

/** Something of the lab on this host that has to go. */
export interface Remnant {
  /** Begins a sentence: "The interface labmgmt". */
  readonly name: string;
  /** False once it is gone, whoever took it away. */
  readonly isThere: () => boolean | Promise<boolean>;
  /** One attempt to take it away. */
  readonly remove: () => Promise<unknown>;
  /** What keeps it, in words, where that can be known; else the last attempt's error tells. */
  readonly kept?: () => Promise<string | undefined>;
  /** What to do about what keeps it. Default: a sentence that fits everything. */
  readonly hint?: string;
}

/** Between two attempts, ms. */
const pause = 200;

/**
 * Takes something down. Processes and the kernel let go of things a little after they seem to be gone, and each tool
 * says so in its own words and the host's language: whatever fails is tried again while the thing is there, for
 * `boundMs`. Throws a UserError that names the thing and what keeps it.
 */
export async function takeDown(what: Remnant, boundMs = 20_000): Promise<void> {
  const deadline = Date.now() + boundMs;
  while (await what.isThere()) {
    try {
      await what.remove();
      return;
    } catch (error) {
      if (Date.now() >= deadline) throw await stays(what, error, boundMs);
    }
    await delay(pause);
  }
}

async function stays(what: Remnant, error: unknown, boundMs: number): Promise<UserError> {
  const kept = (await what.kept?.()) ?? (error instanceof Error ? error.message : String(error));
  return new UserError(
    `${what.name} is still there after ${boundMs / 1000} s: ${kept.replace(/\.?$/, ".")}`,
    what.hint ?? "End what uses it and run 'stackadm lab down' again.",
  );
}
