import { isDeepStrictEqual } from "node:util";

/** Whether it is nothing but data, so that its text stands for it. */
const isData = (value: unknown): boolean => {
  const text = JSON.stringify(value) as string | undefined;
  return text !== undefined && isDeepStrictEqual(JSON.parse(text), value);
};

/** The same work, done once for the same arguments where these are nothing but data. Nobody may change what comes of it. */
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
