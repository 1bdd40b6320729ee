import { setTimeout as pause } from "node:timers/promises";
import { CloudError } from "./cloud-error.js";

export interface DeleteOptions {
  /** Signal to stop. Once it is aborted, no more requests are sent. */
  readonly signal?: AbortSignal;
  /**
   * Milliseconds to wait until an object may be deleted, and again as long until it is gone.
   * Default: 900 000 for load balancers and their parts, 600 000 for servers and volumes, 180 000
   * for all others.
   */
  readonly timeout?: number;
  /** Milliseconds between two checks. Default: 2 000. */
  readonly interval?: number;
  /** Called with one sentence about what is waited for. Default: not called. */
  readonly onWait?: (text: string) => void;
  /** Milliseconds between two such calls. Default: 30 000. */
  readonly every?: number;
}

/** Object that is waited for. */
export interface Waited {
  /** Name of the object for users: `load balancer 'dev-api' (ID)`. */
  readonly what: string;
  /** Milliseconds after which waiting ends, unless `timeout` is set. */
  readonly bound: number;
}

const minute = 60_000;

/**
 * Time limits by kind of object, in milliseconds. Octavia refuses to delete a load balancer that is
 * being created, and amphorae may take minutes to boot. Nova deletes a server only after Cinder has
 * detached its volumes.
 */
export const bounds = { balancer: 15 * minute, machine: 10 * minute, other: 3 * minute } as const;

/** Wait with a time limit. */
export class Wait {
  readonly #end: number;
  #next: number;

  constructor(
    private readonly waited: Waited,
    private readonly options: DeleteOptions,
  ) {
    this.#end = Date.now() + (options.timeout ?? waited.bound);
    this.#next = Date.now() + this.every;
  }

  private get every(): number {
    return this.options.every ?? 30_000;
  }

  get isOver(): boolean {
    return Date.now() > this.#end;
  }

  /** Waits until the next check. `why` states the reason for the wait. */
  async pause(why: string): Promise<void> {
    const { interval = 2_000, onWait, signal } = this.options;
    if (Date.now() >= this.#next) {
      this.#next = Date.now() + this.every;
      const left = Math.max(1, Math.round((this.#end - Date.now()) / minute));
      onWait?.(`Waiting for the ${this.waited.what}, ${left} min at most: ${why}.`);
    }
    await pause(interval, undefined, { signal });
  }
}

/** Returns whether the object to delete was already gone. */
export const gone = async (work: Promise<unknown>): Promise<boolean> => {
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
 * Repeats `attempt` while the cloud answers 409: another object still uses this one, or it is still
 * being created.
 */
export async function whileInUse(
  attempt: () => Promise<boolean>,
  waited: Waited,
  options: DeleteOptions,
): Promise<boolean> {
  const wait = new Wait(waited, options);
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
