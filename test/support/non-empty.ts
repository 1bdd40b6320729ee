import { strict as assert } from "node:assert";

/**
 * Returns the elements of a list. Throws if the list is empty. A test that asserts only in a loop
 * runs the loop over such a list, because otherwise the test would pass without a run of the loop.
 */
export function nonEmpty<T>(list: Iterable<T>): T[] {
  const elements = [...list];
  assert.notEqual(elements.length, 0, "the list is empty");
  return elements;
}
