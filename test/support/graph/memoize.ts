import { isDeepStrictEqual } from "node:util";

/**
 * Returns whether the value is equal after conversion to JSON and back, so that the JSON can be a
 * cache key.
 */
const isData = (value: unknown): boolean => {
  const text = JSON.stringify(value) as string | undefined;
  return text !== undefined && isDeepStrictEqual(JSON.parse(text), value);
};

/**
 * Caches the results of `work` by its arguments if the arguments are plain data. Callers must not
 * modify a result.
 */
export function remembered<Args extends readonly unknown[], Made>(
  work: (...args: Args) => Promise<Made>,
): (...args: Args) => Promise<Made> {
  const made = new Map<string, Promise<Made>>();
  return (...args) => {
    if (!isData(args)) return work(...args);
    const key = JSON.stringify(args);
    const found = made.get(key) ?? work(...args);
    made.set(key, found);
    return found;
  };
}
