/** Work that ends early when the signal is aborted. */
export type Stoppable<T> = (signal: AbortSignal) => Promise<T>;

/**
 * Calls `one` and `other` at the same time. If one function fails, stops the other function. Throws
 * the error after both functions have ended, so that nothing continues in the background.
 *
 * @param signal stops both functions when aborted. Default: none
 */
export async function runTogether<One, Other>(
  one: Stoppable<One>,
  other: Stoppable<Other>,
  signal?: AbortSignal,
): Promise<[One, Other]> {
  const failed = new AbortController();
  const stop = AbortSignal.any([failed.signal, ...(signal ? [signal] : [])]);
  const watched = async <T>(work: Stoppable<T>): Promise<T> => {
    try {
      return await work(stop);
    } catch (error) {
      // Only the first error is the cause: stopped work may throw an error, too.
      if (!failed.signal.aborted) failed.abort(error);
      throw error;
    }
  };
  const works = [watched(one), watched(other)] as const;
  await Promise.allSettled(works);
  if (failed.signal.aborted) throw failed.signal.reason;
  return Promise.all(works);
}
