import { isDeepStrictEqual } from "node:util";
import type { HeldLock } from "../engine/held-lock.js";
import type { StackOperation } from "../engine/operation-context.js";
import {
  changeState,
  createStateChangedError,
  readState,
  type StateExport,
} from "../pulumi/stack-state.js";

/**
 * Lets `work` change the cloud while an engine holds the stack's lock. `work` must change the cloud
 * with the client of the lock. `work` gets the state and returns the new state. Writes the new state after the lock is released. Writes nothing if `work`
 * returns undefined or the same object. Throws if another operation changed the state between the
 * release of the lock and the write. Returns the state before and after.
 *
 * @param options signal that ends the wait for the lock and the work. Default: the signal of the
 * run
 */
export async function editUnderLock(
  run: Pick<StackOperation, "access" | "hold">,
  work: (
    state: StateExport | undefined,
    lock: HeldLock,
  ) => Promise<StateExport | undefined> | StateExport | undefined,
  options?: { readonly stop: AbortSignal | undefined },
): Promise<{ readonly before: StateExport | undefined; readonly after: StateExport | undefined }> {
  const { before, after } = await run.hold(async (lock) => {
    const before = await readState(run.access);
    return { before, after: await work(before, lock) };
  }, options);
  if (after !== undefined && after !== before)
    await changeState(run.access, (now) => {
      if (!isDeepStrictEqual(now, before)) throw createStateChangedError();
      return after;
    });
  return { before, after };
}
