import { setTimeout as pause } from "node:timers/promises";
import { CloudError } from "./cloud-error.js";

export interface DeleteOptions {
  /** Once it is aborted, nothing more is asked of the cloud. */
  readonly signal?: AbortSignal;
  /**
   * Milliseconds to wait until an object may be deleted, and as long again until it is really gone. Default: 900 000 for load balancers
   * and their parts, 600 000 for servers and volumes, 180 000 for all others.
   */
  readonly timeout?: number;
  /** Milliseconds between two looks. Default: 2 000. */
  readonly interval?: number;
  /** Hears in one sentence what is waited for, each half minute. Default: nobody. */
  readonly onWait?: (text: string) => void;
  /** Milliseconds between two such sentences. Default: 30 000. */
  readonly every?: number;
}

/** What is waited for. */
export interface Waited {
  /** What it is, for people: `load balancer 'dev-api' (ID)`. */
  readonly what: string;
  /** Milliseconds after which it is given up, if nobody says otherwise. */
  readonly bound: number;
}

const minute = 60_000;

/**
 * How long each kind may take, in milliseconds. Octavia lets nobody delete what is still being made, and amphorae may take minutes to boot;
 * Nova deletes a server only when Cinder has let its volumes go.
 */
export const bounds = { balancer: 15 * minute, machine: 10 * minute, other: 3 * minute } as const;

/** One wait with its end. */
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

  /** Until the next look; `why` says what is still so. */
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

const withoutStop = (text: string): string => text.trim().replace(/\.$/, "");

/** Repeats `attempt` while the cloud says 409: something that uses the object is still going away, or it is still being made. */
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
