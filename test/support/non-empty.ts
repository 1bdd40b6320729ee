import { strict as assert } from "node:assert";

/**
 * Returns the elements of a list. Throws if the list is empty. Tests use this function if all their
 * assertions are in a loop. Otherwise, such a test would pass with an empty list.
 */
export function nonEmpty<T>(list: Iterable<T>): T[] {
  const elements = [...list];
  assert.notEqual(elements.length, 0, "the list is empty");
  return elements;
}
