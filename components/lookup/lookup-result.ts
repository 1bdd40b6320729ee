import { findReasonLine } from "../../base/failures/failure.js";

/**
 * Returns the reason that the cloud gives for an error. Removes text that the provider and the
 * engine add.
 */
export const getCloudErrorReason = (error: unknown): string =>
  findReasonLine(error instanceof Error ? error.message : String(error));

/** Object that a lookup found. */
export interface FoundObject {
  readonly id: string;
  readonly name?: string;
}
/**
 * Reason why a lookup failed. `named` is true if a setting is wrong, for example a name, and false
 * if the cloud could not answer.
 */
export interface LookupProblem {
  readonly problem: string;
  readonly named: boolean;
}
/** Result of a lookup: an object or a problem. */
export type LookupResult<T = FoundObject> = T | LookupProblem;
/** Function that looks up an object in one way, for example by name. Returns all matches. */
export type Lookup<T = FoundObject> = () => Promise<readonly T[]>;

/**
 * Patterns of the provider's errors: `noMatchPattern` for no match, and `severalMatchesPattern` for
 * several matches.
 */
export const noMatchPattern = /returned no |\bno \S+ found/i;
export const severalMatchesPattern = /returned more than one|more than one \S+ found/i;

/** Returns a problem that is caused by a setting. */
export const createSettingProblem = (problem: string): LookupProblem => ({ problem, named: true });

/** Calls the lookups in order until one has a match. Returns the match, or a problem. */
export async function findFirstMatch<T extends FoundObject>(
  what: string,
  reference: string,
  lookups: readonly Lookup<T>[],
): Promise<LookupResult<T>> {
  const choose = (number: string, ids: string): LookupProblem =>
    createSettingProblem(`${number} ${what}s are called "${reference}"${ids}; write the ID of one`);
  for (const lookup of lookups) {
    try {
      const things = await lookup();
      const [first, second] = things;
      if (second)
        return choose(String(things.length), ` (${things.map(({ id }) => id).join(", ")})`);
      if (first) return first;
    } catch (error) {
      const reason = getCloudErrorReason(error);
      if (severalMatchesPattern.test(reason)) return choose("several", "");
      if (!noMatchPattern.test(reason)) return { problem: reason, named: false };
    }
  }
  return createSettingProblem(
    `the ${what} "${reference}" does not exist; write the name or ID of another`,
  );
}
