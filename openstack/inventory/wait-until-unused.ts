import { setTimeout as pause } from "node:timers/promises";
import { CloudError } from "../http/cloud-error.js";

export interface DeleteOptions {
  /** Signal to stop. After the signal, no more requests are sent. */
  readonly signal?: AbortSignal;
  /**
   * Time limit in milliseconds for each of two waits: until the cloud accepts the deletion, and
   * until the object is gone. Default: 900 000 for load balancers and their parts, 600 000 for
   * servers, volumes and snapshots, 180 000 for all others.
   */
  readonly timeout?: number;
  /** Milliseconds between two checks. Default: 2 000. */
  readonly interval?: number;
  /** Reports what the program waits for, in one sentence. Default: no report. */
  readonly onWait?: (text: string) => void;
  /** Milliseconds between two calls of `onWait`. Default: 30 000. */
  readonly every?: number;
}

/** Object for which the program waits. */
export interface AwaitedObject {
  /** Name of the object for users: `load balancer 'dev-api' (ID)`. */
  readonly what: string;
  /** Time limit in milliseconds, if the option `timeout` is not set. */
  readonly bound: number;
}

const minute = 60_000;

/**
 * Time limits for deletions, in milliseconds. Octavia refuses to delete a load balancer during its
 * creation, and amphorae may need minutes to boot. Nova deletes a server only after Cinder has
 * detached its volumes.
 */
export const deletionTimeouts = {
  balancer: 15 * minute,
  machine: 10 * minute,
  other: 3 * minute,
} as const;

export class TimedWait {
  readonly #end: number;
  #next: number;

  constructor(
    private readonly waited: AwaitedObject,
    private readonly options: DeleteOptions,
  ) {
    this.#end = performance.now() + (options.timeout ?? waited.bound);
    this.#next = performance.now() + this.every;
  }

  private get every(): number {
    return this.options.every ?? 30_000;
  }

  get isOver(): boolean {
    return performance.now() > this.#end;
  }

  /** Waits until the next check. `why` is the reason for the wait. */
  async pause(why: string): Promise<void> {
    const { interval = 2_000, onWait, signal } = this.options;
    if (performance.now() >= this.#next) {
      this.#next = performance.now() + this.every;
      const left = Math.max(1, Math.round((this.#end - performance.now()) / minute));
      onWait?.(`Waiting for the ${this.waited.what}, ${left} min at most: ${why}.`);
    }
    await pause(interval, undefined, { signal });
  }
}

/** Awaits a deletion request. Returns whether the object was already gone. */
export const wasAlreadyGone = async (work: Promise<unknown>): Promise<boolean> => {
  try {
    await work;
    return false;
  } catch (error) {
    if (error instanceof CloudError && error.kind === "not-found") return true;
    throw error;
  }
};

const withoutStop = (text: string): string => text.trim().replace(/\.$/, "");

/**
 * Repeats `attempt` while the cloud answers 409, because another object uses the object or because
 * the object is still being created. Throws the last error after the time limit.
 */
export async function retryWhileInUse(
  attempt: () => Promise<boolean>,
  waited: AwaitedObject,
  options: DeleteOptions,
): Promise<boolean> {
  const wait = new TimedWait(waited, options);
  for (;;) {
    options.signal?.throwIfAborted();
    try {
      return await attempt();
    } catch (error) {
      const inUse = error instanceof CloudError && error.kind === "conflict";
      if (!inUse || wait.isOver) throw error;
      await wait.pause(withoutStop(error.message));
    }
  }
}
