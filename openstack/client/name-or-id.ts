const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Returns whether the reference looks like the ID of an image or network. Such a reference is
 * looked up as an ID first, then as a name.
 */
export const isUuid = (reference: string): boolean => uuid.test(reference);

/**
 * Returns the two ways to look up a reference, in the order to try. A reference without the shape
 * of an ID may still be an ID, because flavors' IDs have any shape.
 */
export const lookupOrder = <T>(
  reference: string,
  { byId, byName }: { readonly byId: T; readonly byName: T },
): readonly [T, T] => (isUuid(reference) ? [byId, byName] : [byName, byId]);

/**
 * Returns the elements with the ID or name `reference`. Returns several if a name is not unique.
 */
export function matchesOf<T extends { readonly id: string; readonly name: string | null }>(
  reference: string,
  all: readonly T[],
): readonly T[] {
  const [first, second] = lookupOrder(reference, {
    byId: all.filter(({ id }) => id === reference),
    byName: all.filter(({ name }) => name === reference),
  });
  return first.length > 0 ? first : second;
}
