import { isDeepStrictEqual } from "node:util";
import type { StackOperation } from "../engine/operation-context.js";
import {
  changeState,
  stateChangedError,
  readState,
  type StateExport,
} from "../pulumi/stack-state.js";

/**
 * Reads the state while an engine holds the stack's lock, and has `work` act on the cloud. Then
 * writes the state that `work` returns, unless `work` returns the state as it was, or undefined.
 * Throws if another operation changed the state between lock and write. Returns the state as it
 * was, and as it is now.
 *
 * @param options signal that ends the wait for the lock and the work. Default: that of the run
 */
export async function editUnderLock(
  run: Pick<StackOperation, "access" | "hold">,
  work: (
    state: StateExport | undefined,
    signal: AbortSignal,
  ) => Promise<StateExport | undefined> | StateExport | undefined,
  options?: { readonly stop: AbortSignal | undefined },
): Promise<{ readonly before: StateExport | undefined; readonly after: StateExport | undefined }> {
  const { before, after } = await run.hold(async (signal) => {
    const before = await readState(run.access);
    return { before, after: await work(before, signal) };
  }, options);
  if (after !== undefined && after !== before)
    await changeState(run.access, (now) => {
      if (!isDeepStrictEqual(now, before)) throw stateChangedError();
      return after;
    });
  return { before, after };
}
