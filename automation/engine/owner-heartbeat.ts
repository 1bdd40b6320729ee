import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { listLocks } from "../pulumi/locks/list-locks.js";
import { isHolderAlive, readEngineNotes } from "../pulumi/locks/lock-holders.js";
import {
  readOwner,
  readOwnerRecord,
  writeOwnerRecord,
  type OwnerRecord,
} from "../pulumi/locks/owner-record.js";
import type { StateAccess } from "../pulumi/stack-state.js";
import { hasUnlockedPreviews } from "../pulumi/locks/update-in-progress.js";
import type { ServiceOptions } from "./operation-options.js";
import type { HeartbeatRequest, OperationRequest } from "./worker-messages.js";

/*
 * Heartbeat of an operation that has an owner. The worker process stores a record in the backend
 * while its engine holds the stack's lock. An operation of the same owner takes the stack over if it
 * sees the same record for `takeOverLimits.unchanged`. So an engine without a stored heartbeat must
 * end earlier. See docs/decisions/0069-stack-owners.md.
 */

type HeartbeatLimits = Pick<HeartbeatRequest, "interval" | "retry" | "lease">;

export const heartbeatLimits: HeartbeatLimits = { interval: 30_000, retry: 5_000, lease: 120_000 };

/**
 * Returns the heartbeat of an operation. Returns undefined if the operation has no owner or takes no
 * lock. Also returns undefined for Pulumi Cloud, which does not name the lock of an update, so no
 * record can prove that a lock belongs to an owner.
 */
export function createHeartbeatRequest(
  operation: OperationRequest["operation"],
  { env, backend }: Pick<ServiceOptions, "env" | "backend">,
): HeartbeatRequest | undefined {
  const owner = readOwner(env);
  const isNeeded = operation !== "preview" && !hasUnlockedPreviews(backend);
  return owner !== undefined && isNeeded ? { owner, backend, ...heartbeatLimits } : undefined;
}

/** Access of a heartbeat to the backend and to its engine. */
export interface HeartbeatTools {
  /** Returns the UUID of the lock that the engine holds. Undefined if the lock is not found. */
  findLock(): Promise<string | undefined>;
  read(): Promise<OwnerRecord | undefined>;
  write(record: OwnerRecord): Promise<void>;
  /** Kills the engine. Reports the reason, a sentence, to the user. */
  killEngine(reason: string): void;
}

/** Stores heartbeats until the operation stops them. Kills the engine if another one may run. */
export class OwnerHeartbeat {
  readonly #run = randomUUID();
  readonly #stopped = new AbortController();
  #working: Promise<void> | undefined;
  #lock: string | undefined;
  #beats = 0;
  #isStored = false;
  #lease: NodeJS.Timeout | undefined;
  /** Error of the last failed heartbeat, for the message about a lost lease. */
  #problem = "";

  constructor(
    private readonly owner: string,
    private readonly tools: HeartbeatTools,
    private readonly limits: HeartbeatLimits,
  ) {}

  /** Starts the heartbeats. Must not be called before the engine has the lock. */
  begin(): void {
    if (!this.#stopped.signal.aborted) this.#working ??= this.beatUntilStopped();
  }

  /** Stops the heartbeats. Waits for a command of the heartbeat that still runs. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    clearTimeout(this.#lease);
    await this.#working;
  }

  private async beatUntilStopped(): Promise<void> {
    const { signal } = this.#stopped;
    const { interval, retry } = this.limits;
    while (!signal.aborted) {
      const delay = await this.beat().then(
        () => interval,
        (error: unknown) => {
          this.#problem = error instanceof Error ? error.message : String(error);
          return retry;
        },
      );
      // The pause rejects only if the heartbeats are stopped.
      await pause(delay, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Stores one heartbeat. Stores nothing if the engine's lock is not found. */
  private async beat(): Promise<void> {
    const { owner, tools } = this;
    this.#lock ??= await tools.findLock();
    if (this.#lock === undefined) return;
    if (this.#isStored && (await this.isTakenOver()))
      this.lose(`another operation of owner '${owner}' has taken the stack over`);
    if (this.#stopped.signal.aborted) return;
    this.#beats += 1;
    // A write that fails may still have stored the record, so the lease begins with the first try.
    if (this.#beats === 1) this.startLease(this.limits.lease);
    const began = performance.now();
    await tools.write({ owner, lock: this.#lock, run: this.#run, beat: this.#beats });
    this.#isStored = true;
    this.startLease(this.limits.lease - (performance.now() - began));
  }

  private async isTakenOver(): Promise<boolean> {
    const found = await this.tools.read();
    return found !== undefined && found.run !== this.#run;
  }

  /** Kills the engine after this time, unless a later heartbeat is stored. */
  private startLease(milliseconds: number): void {
    clearTimeout(this.#lease);
    if (this.#stopped.signal.aborted) return;
    this.#lease = setTimeout(() => {
      const seconds = this.limits.lease / 1_000;
      this.lose(
        `no heartbeat of owner '${this.owner}' could be stored for ${seconds} s (${this.#problem})`,
      );
    }, milliseconds);
  }

  private lose(why: string): void {
    if (this.#stopped.signal.aborted) return;
    this.#stopped.abort();
    clearTimeout(this.#lease);
    this.tools.killEngine(`The engine was killed, because ${why}.`);
  }
}

/** Returns the heartbeat of a worker's operation, or undefined if the operation needs none. */
export function createHeartbeat(
  { heartbeat, stack, project, workDirectory: directory }: OperationRequest,
  killEngine: HeartbeatTools["killEngine"],
): OwnerHeartbeat | undefined {
  if (!heartbeat) return undefined;
  const { owner, backend, ...limits } = heartbeat;
  const access: StateAccess = { workspace: { stack, project, directory }, env: process.env };
  const tools: HeartbeatTools = {
    findLock: async () => {
      const locks = await listLocks(access, backend);
      const notes = readEngineNotes(directory);
      return locks.find(({ holder }) => holder && isHolderAlive(notes, holder))?.id;
    },
    read: () => readOwnerRecord(access),
    write: (record) => writeOwnerRecord(access, record),
    killEngine,
  };
  return new OwnerHeartbeat(owner, tools, limits);
}
