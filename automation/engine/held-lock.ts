import type { CloudClient } from "../../openstack/client/cloud-client.js";
import { checkBeforeChanges } from "../../openstack/client/checked-client.js";
import {
  hasUnlockedPreviews,
  requireNoUpdate,
  shareRunningCheck,
} from "../pulumi/locks/update-in-progress.js";
import type { StateAccess } from "../pulumi/stack-state.js";

/** Lock of a stack, which an operation holds while it changes the cloud. */
export interface HeldLock {
  /** Aborted if the lock is lost or the operation is stopped. */
  readonly signal: AbortSignal;
  /** Returns a client that changes nothing after the lock is lost. */
  cloud(): Promise<CloudClient>;
}

export interface HeldLockOptions {
  readonly access: StateAccess;
  readonly backend: string;
  readonly signal: AbortSignal;
  readonly connect: () => Promise<CloudClient>;
}

/**
 * Returns the lock for the work of an operation. In a backend that does not lock previews, the lock
 * counts as lost as soon as an update is in progress.
 */
export function createHeldLock({ access, backend, signal, connect }: HeldLockOptions): HeldLock {
  const requireUnlocked = hasUnlockedPreviews(backend)
    ? shareRunningCheck(() => requireNoUpdate(access))
    : () => Promise.resolve();
  const requireHeld = async (): Promise<void> => {
    await requireUnlocked();
    signal.throwIfAborted();
  };
  return { signal, cloud: async () => checkBeforeChanges(await connect(), requireHeld) };
}
