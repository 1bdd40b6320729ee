import { setTimeout as pause } from "node:timers/promises";
import { CloudError } from "./cloud-error.js";

export interface DeleteOptions {
  /** Once it is aborted, nothing more is asked of the cloud. */
  readonly signal?: AbortSignal;
  /** Milliseconds to wait until a deleted object is really gone. Default: 180 000. */
  readonly timeout?: number;
  /** Milliseconds between two looks. Default: 2 000. */
  readonly interval?: number;
}

/** Whether there was nothing to delete. */
export const gone = async (work: Promise<unknown>): Promise<boolean> => {
  try {
    await work;
    return false;
  } catch (error) {
    if (error instanceof CloudError && error.kind === "not-found") return true;
    throw error;
  }
};

/** Repeats `attempt` while the cloud says 409: something that uses the object is still going away. */
export async function whileInUse(
  attempt: () => Promise<boolean>,
  options: DeleteOptions,
): Promise<boolean> {
  const end = Date.now() + (options.timeout ?? 180_000);
  for (;;) {
    options.signal?.throwIfAborted();
    try {
      return await attempt();
    } catch (error) {
      const inUse = error instanceof CloudError && error.kind === "conflict";
      if (!inUse || Date.now() > end) throw error;
      await pause(options.interval ?? 2_000, undefined, { signal: options.signal });
    }
  }
}
