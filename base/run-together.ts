/** Asynchronous work that ends early when the signal is aborted. */
export type AbortableTask<T> = (signal: AbortSignal) => Promise<T>;

/**
 * Calls `one` and `other` at the same time. If one function fails, stops the other function. Throws
 * the first error after both functions have ended, so that neither continues in the background.
 *
 * @param signal stops both functions when aborted. Default: none
 */
export async function runTogether<One, Other>(
  one: AbortableTask<One>,
  other: AbortableTask<Other>,
  signal?: AbortSignal,
): Promise<[One, Other]> {
  const failed = new AbortController();
  const stop = AbortSignal.any([failed.signal, ...(signal ? [signal] : [])]);
  const watched = async <T>(work: AbortableTask<T>): Promise<T> => {
    try {
      return await work(stop);
    } catch (error) {
      // Only the first error is the cause. The other function may throw an error because it is
      // stopped.
      if (!failed.signal.aborted) failed.abort(error);
      throw error;
    }
  };
  const works = [watched(one), watched(other)] as const;
  await Promise.allSettled(works);
  if (failed.signal.aborted) throw failed.signal.reason;
  return Promise.all(works);
}
