const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Returns whether the reference has the form of a UUID, like the IDs of images and networks. Such a
 * reference is looked up first as an ID, then as a name.
 */
export const isUuid = (reference: string): boolean => uuid.test(reference);

/**
 * Returns the lookups by ID and by name in the order to try. A reference that is not a UUID may
 * still be an ID, because IDs of flavors have any form.
 */
export const orderLookups = <T>(
  reference: string,
  { byId, byName }: { readonly byId: T; readonly byName: T },
): readonly [T, T] => (isUuid(reference) ? [byId, byName] : [byName, byId]);

/**
 * Returns the elements whose ID or name is `reference`. Returns several elements if a name is not
 * unique.
 */
export function findByReference<T extends { readonly id: string; readonly name: string | null }>(
  reference: string,
  all: readonly T[],
): readonly T[] {
  const [first, second] = orderLookups(reference, {
    byId: all.filter(({ id }) => id === reference),
    byName: all.filter(({ name }) => name === reference),
  });
  return first.length > 0 ? first : second;
}
