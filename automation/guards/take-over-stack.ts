import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { StackOperation } from "../engine/operation-context.js";
import { describeLock, type StackLock } from "../pulumi/locks/engine-locks.js";
import { listLocks } from "../pulumi/locks/list-locks.js";
import { isHolderAlive, readEngineNotes } from "../pulumi/locks/lock-holders.js";
import {
  readOwnerRecord,
  writeOwnerRecord,
  type OwnerRecord,
} from "../pulumi/locks/owner-record.js";
import {
  createLockedError,
  isHolderProvenDead,
  removeLocks,
  withRemovalLock,
} from "./remove-locks.js";

/*
 * Takes a stack over from a killed operation of the same owner, for example from a CI job whose
 * runner no longer exists. See docs/decisions/0069-stack-owners.md.
 */

/** Times of a take-over, in milliseconds. */
export interface TakeOverLimits {
  /**
   * Time in which the record must stay the same. Must be longer than `heartbeatLimits.lease`, after
   * which an engine without a stored heartbeat is killed.
   */
  readonly unchanged: number;
  /** Time between two reads of the record. */
  readonly poll: number;
  /** Time in which no other operation may replace this operation's claim. */
  readonly settle: number;
}

export const takeOverLimits: TakeOverLimits = {
  unchanged: 180_000,
  poll: 10_000,
  settle: 10_000,
};

interface OwnedLock {
  readonly lock: StackLock;
  readonly record: OwnerRecord;
}

/**
 * Removes the stack's lock if an operation of this owner took the lock and stores no heartbeats any
 * more. Returns without a change if the lock belongs to another operation, and if a note about the
 * lock's engine exists: the caller then knows better whether the engine runs. Throws if the
 * operation of the same owner still works.
 */
export async function takeOverStack(
  run: StackOperation,
  owner: string,
  limits: TakeOverLimits = takeOverLimits,
): Promise<void> {
  const record = await readOwnerRecord(run.access);
  if (record?.owner !== owner) return;
  const lock = findOwnedLock(run, await list(run), record);
  if (!lock) return;
  const seconds = limits.unchanged / 1_000;
  run.note(
    `${sentenceStart(describeLock(lock))} holds this stack for the same owner '${owner}': waiting ${seconds} s for its next heartbeat.`,
  );
  const owned = { lock, record };
  const state = await watchHolder(run, owned, limits);
  if (state === "alive") throw createLockedError(lock);
  if (state === "released") return;
  await removeOwnedLock(run, owned, await claim(run, owned, limits));
  run.note(
    `Took the stack over from ${describeLock(lock)}: this operation of owner '${owner}' stored no heartbeat for ${seconds} s.`,
  );
}

const list = ({ access, service }: StackOperation): Promise<StackLock[]> =>
  listLocks(access, service.backend);

const sentenceStart = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/**
 * Returns the lock that the record names. Returns undefined if the stack has no such lock or other
 * locks, or if a note proves that the lock's holder is dead or runs on this machine.
 */
function findOwnedLock(
  run: StackOperation,
  locks: readonly StackLock[],
  record: OwnerRecord,
): StackLock | undefined {
  const unproven = locks.filter((lock) => !isHolderProvenDead(run, lock));
  const [lock, ...others] = unproven;
  if (lock?.id !== record.lock || others.length > 0) return undefined;
  const notes = readEngineNotes(run.access.workspace.directory);
  return lock.holder && isHolderAlive(notes, lock.holder) ? undefined : lock;
}

type HolderState = "alive" | "released" | "silent";

/**
 * Watches the record and the lock until the record was the same for `limits.unchanged`. Compares no
 * times of two hosts: only the monotonic clock of this process measures. Errors of the backend
 * during the wait do not matter, because every heartbeat changes the record.
 */
async function watchHolder(
  run: StackOperation,
  owned: OwnedLock,
  { unchanged, poll }: TakeOverLimits,
): Promise<HolderState> {
  const began = performance.now();
  for (;;) {
    await pause(poll, undefined, { signal: run.options.signal });
    const isLongEnough = performance.now() - began >= unchanged;
    const state = await readHolderState(run, owned).catch((error: unknown) => {
      if (isLongEnough) throw error;
      return "silent" as const;
    });
    if (state !== "silent" || isLongEnough) return state;
  }
}

async function readHolderState(
  run: StackOperation,
  { lock, record }: OwnedLock,
): Promise<HolderState> {
  if (!isDeepStrictEqual(await readOwnerRecord(run.access), record)) return "alive";
  const locks = await list(run);
  return locks.some(({ id }) => id === lock.id) ? "silent" : "released";
}

/**
 * Stores a claim in place of the record, and returns the claim. A holder that was only suspended then
 * kills its engine at its next heartbeat. Throws if another operation replaces the claim, because
 * only one operation may remove the lock.
 */
async function claim(
  run: StackOperation,
  { lock, record }: OwnedLock,
  { settle }: TakeOverLimits,
): Promise<OwnerRecord> {
  const mine: OwnerRecord = { ...record, run: randomUUID(), beat: 0 };
  await writeOwnerRecord(run.access, mine);
  await pause(settle, undefined, { signal: run.options.signal });
  await requireClaim(run, lock, mine);
  return mine;
}

async function requireClaim(
  { access }: StackOperation,
  lock: StackLock,
  mine: OwnerRecord,
): Promise<void> {
  if (!isDeepStrictEqual(await readOwnerRecord(access), mine)) throw createLockedError(lock);
}

/**
 * Removes the lock. Throws if another operation has taken a lock in the meantime. Checks the claim
 * again, because the claim of another operation may have been stored late by a slow backend.
 */
const removeOwnedLock = (
  run: StackOperation,
  { lock }: OwnedLock,
  mine: OwnerRecord,
): Promise<void> =>
  withRemovalLock(run, async () => {
    const locks = await list(run);
    const other = locks.find((one) => one.id !== lock.id && !isHolderProvenDead(run, one));
    if (other) throw createLockedError(other);
    await requireClaim(run, lock, mine);
    await removeLocks(run, locks);
  });
