import { reasonLine } from "../../base/failures/failure.js";

/** Returns the cloud's reason for an error, without the text that provider and engine add. */
export const cloudReasonOf = (error: unknown): string =>
  reasonLine(error instanceof Error ? error.message : String(error));

/** Object that was found. */
export interface FoundObject {
  readonly id: string;
  readonly name?: string;
}
/**
 * Reason why a lookup failed. `named`: the name or ID in the specification is the reason, not the
 * cloud.
 */
export interface LookupProblem {
  readonly problem: string;
  readonly named: boolean;
}
/** Result of a lookup: an object or a problem. */
export type LookupResult<T = FoundObject> = T | LookupProblem;
/** Lookup in one way, for example by name. Returns every match. */
export type Lookup<T = FoundObject> = () => Promise<readonly T[]>;

/** Patterns of the provider's errors: for no match, and for several matches. */
export const noMatchPattern = /returned no |\bno \S+ found/i;
export const severalMatchesPattern = /returned more than one|more than one \S+ found/i;

/** Returns a problem of which the name or another setting is the reason. */
export const wrongNameProblem = (problem: string): LookupProblem => ({ problem, named: true });

/** Tries the lookups in order. Returns the first match, or a problem. */
export async function findFirst<T extends FoundObject>(
  what: string,
  reference: string,
  lookups: readonly Lookup<T>[],
): Promise<LookupResult<T>> {
  const choose = (number: string, ids: string): LookupProblem =>
    wrongNameProblem(`${number} ${what}s are called "${reference}"${ids}; write the ID of one`);
  for (const lookup of lookups) {
    try {
      const things = await lookup();
      const [first, second] = things;
      if (second)
        return choose(String(things.length), ` (${things.map(({ id }) => id).join(", ")})`);
      if (first) return first;
    } catch (error) {
      const reason = cloudReasonOf(error);
      if (severalMatchesPattern.test(reason)) return choose("several", "");
      if (!noMatchPattern.test(reason)) return { problem: reason, named: false };
    }
  }
  return wrongNameProblem(
    `the ${what} "${reference}" does not exist; write the name or ID of another`,
  );
}
