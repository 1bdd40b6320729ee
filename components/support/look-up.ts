import { tellingLine } from "../../base/failure.js";

/** The reason in the cloud's words, without the layers that passed it on. */
export const reasonOf = (error: unknown): string =>
  tellingLine(error instanceof Error ? error.message : String(error));

/** One thing that was looked up. */
export interface Thing {
  readonly id: string;
  readonly name?: string;
}
/** Why there is nothing. `named`: the name is to blame, not the cloud. */
export interface Problem {
  readonly problem: string;
  readonly named: boolean;
}
/** A lookup ends in a thing or in a sentence. */
export type Found<T = Thing> = T | Problem;
/** One way to look something up; ends in everything it finds. */
export type Lookup<T = Thing> = () => Promise<readonly T[]>;

/** What the provider says of a lookup that finds nothing, and of one that finds too much. */
export const noneFound = /returned no |\bno \S+ found/i;
export const severalFound = /returned more than one|more than one \S+ found/i;

/** Something that was written is wrong. */
export const misnamed = (problem: string): Problem => ({ problem, named: true });

/** Looks in one way after the other, until there is something. */
export async function find<T extends Thing>(
  what: string,
  reference: string,
  lookups: readonly Lookup<T>[],
): Promise<Found<T>> {
  const choose = (number: string, ids: string): Problem =>
    misnamed(`${number} ${what}s are called "${reference}"${ids}; write the ID of one`);
  for (const lookup of lookups) {
    try {
      const things = await lookup();
      const [first, second] = things;
      if (second)
        return choose(String(things.length), ` (${things.map(({ id }) => id).join(", ")})`);
      if (first) return first;
    } catch (error) {
      const reason = reasonOf(error);
      if (severalFound.test(reason)) return choose("several", "");
      if (!noneFound.test(reason)) return { problem: reason, named: false };
    }
  }
  return misnamed(`the ${what} "${reference}" does not exist; write the name or ID of another`);
}
