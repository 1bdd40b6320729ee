/** Work that ends early when its signal is aborted. */
export type Stoppable<T> = (signal: AbortSignal) => Promise<T>;

/**
 * Both at once. When one fails, the other is stopped; the error is thrown when both have ended, so that nothing goes on behind it.
 *
 * @param signal aborting it stops both; default: nobody stops them
 */
export async function together<One, Other>(
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
      // What the other says when it is stopped is not why.
      if (!failed.signal.aborted) failed.abort(error);
      throw error;
    }
  };
  const works = [watched(one), watched(other)] as const;
  await Promise.allSettled(works);
  if (failed.signal.aborted) throw failed.signal.reason;
  return Promise.all(works);
}
