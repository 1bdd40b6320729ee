import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { Lease, readMachineTime } from "../../base/lease.js";
import { readProcessIdentity } from "../../base/process-identity.js";
import { listLocks } from "../pulumi/locks/list-locks.js";
import type { LockHolder } from "../pulumi/locks/engine-locks.js";
import { isHolderAlive, readEngineNotes, type EngineNote } from "../pulumi/locks/lock-holders.js";
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
  /**
   * Receives the time at which the lease begins or is renewed, by {@link readMachineTime}. Undefined:
   * there is no lease any more.
   */
  reportLease(at: number | undefined): void;
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
  readonly #lease: Lease;
  /** Error of the last failed heartbeat, for the message about a lost lease. */
  #problem = "";

  constructor(
    private readonly owner: string,
    private readonly tools: HeartbeatTools,
    private readonly limits: HeartbeatLimits,
    private readonly now = readMachineTime,
  ) {
    this.#lease = new Lease(
      limits.lease,
      () => {
        this.lose(describeLostLease(owner, limits, this.#problem));
      },
      now,
    );
  }

  /** Starts the heartbeats. Must not be called before the engine has the lock. */
  begin(): void {
    if (!this.#stopped.signal.aborted) this.#working ??= this.beatUntilStopped();
  }

  /** Stops the heartbeats. Waits for a command of the heartbeat that still runs. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#lease.stop();
    this.tools.reportLease(undefined);
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
    const began = this.now();
    // A write that fails may still have stored the record, so the lease begins with the first try.
    if (this.#beats === 1) this.renewLease(began);
    await tools.write({ owner, lock: this.#lock, run: this.#run, beat: this.#beats });
    this.#isStored = true;
    this.renewLease(began);
  }

  /**
   * Returns whether another operation has replaced the record. A record with another lock may be that
   * of an operation that has lost the stack before: a late write, or a late claim. Such a record
   * means nothing as long as the engine's lock exists.
   */
  private async isTakenOver(): Promise<boolean> {
    const found = await this.tools.read();
    if (found === undefined || found.run === this.#run) return false;
    return found.lock === this.#lock || (await this.tools.findLock()) !== this.#lock;
  }

  /** Kills the engine at the end of the lease, unless a later heartbeat is stored. */
  private renewLease(at: number): void {
    if (this.#stopped.signal.aborted) return;
    this.#lease.renew(at);
    this.tools.reportLease(at);
  }

  private lose(why: string): void {
    if (this.#stopped.signal.aborted) return;
    this.#stopped.abort();
    this.#lease.stop();
    this.tools.killEngine(`The engine was killed, because ${why}.`);
  }
}

/** Returns why an engine lost its lease, as a part of a sentence. */
export const describeLostLease = (
  owner: string,
  { lease }: Pick<HeartbeatLimits, "lease">,
  problem: string,
): string => `no heartbeat of owner '${owner}' could be stored for ${lease / 1_000} s (${problem})`;

/**
 * Returns whether the holder of a lock is the engine of this worker. An engine of another command
 * has a lock, too, for the moment until it finds the stack locked. The worker is the leader of the
 * process group of its engine.
 */
const isOwnEngine = (holder: LockHolder, notes: readonly EngineNote[]): boolean =>
  isHolderAlive(notes, holder) && readProcessIdentity(holder.pid)?.group === process.pid;

/** Returns the heartbeat of a worker's operation, or undefined if the operation needs none. */
export function createHeartbeat(
  { heartbeat, stack, project, workDirectory: directory }: OperationRequest,
  toParent: Pick<HeartbeatTools, "killEngine" | "reportLease">,
): OwnerHeartbeat | undefined {
  if (!heartbeat) return undefined;
  const { owner, backend, ...limits } = heartbeat;
  // A copy, because the program runs in this process and may change the variables.
  const env = { ...process.env };
  const access: StateAccess = { workspace: { stack, project, directory }, env };
  const tools: HeartbeatTools = {
    findLock: async () => {
      const locks = await listLocks(access, backend);
      const notes = readEngineNotes(directory);
      return locks.find(({ holder }) => holder && isOwnEngine(holder, notes))?.id;
    },
    read: () => readOwnerRecord(access),
    write: (record) => writeOwnerRecord(access, record),
    ...toParent,
  };
  return new OwnerHeartbeat(owner, tools, limits);
}
