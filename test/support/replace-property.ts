/** Replaces a property, and returns a function that restores it. */
export function replace<T extends object>(object: T, key: keyof T, value: unknown): () => void {
  const before = Object.getOwnPropertyDescriptor(object, key);
  Object.defineProperty(object, key, { configurable: true, writable: true, value });
  return () => {
    if (before) Object.defineProperty(object, key, before);
    else Reflect.deleteProperty(object, key);
  };
}
