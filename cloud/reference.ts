const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Has it the shape of an image's or a network's ID? Then it is taken as one before it is taken as a name. */
export const isUuid = (reference: string): boolean => uuid.test(reference);

/** The two ways to look up what `reference` means, in the order in which they are tried. Flavors have IDs of any shape. */
export const inOrder = <T>(
  reference: string,
  { byId, byName }: { readonly byId: T; readonly byName: T },
): readonly [T, T] => (isUuid(reference) ? [byId, byName] : [byName, byId]);

/** What `reference` means among `all`: several where a name is not unique. */
export function meantBy<T extends { readonly id: string; readonly name: string | null }>(
  reference: string,
  all: readonly T[],
): readonly T[] {
  const [first, second] = inOrder(reference, {
    byId: all.filter(({ id }) => id === reference),
    byName: all.filter(({ name }) => name === reference),
  });
  return first.length > 0 ? first : second;
}
