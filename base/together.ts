/** Work that ends early when its signal is aborted. */
export type Stoppable<T> = (signal: AbortSignal) => Promise<T>;

/**
 * Runs both at the same time. If one fails, the other is stopped; the error is thrown after both
 * have ended, so that nothing continues in the background.
 *
 * @param signal stops both when aborted. Default: none
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
      // An error that the other one throws because it is stopped is not the cause.
      if (!failed.signal.aborted) failed.abort(error);
      throw error;
    }
  };
  const works = [watched(one), watched(other)] as const;
  await Promise.allSettled(works);
  if (failed.signal.aborted) throw failed.signal.reason;
  return Promise.all(works);
}
