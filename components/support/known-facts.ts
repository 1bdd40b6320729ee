import type { Wanted } from "../../cloud/wanted.js";
import type { CloudFacts } from "./catalog.js";

/*
 * What a program looks up in the cloud decides what it makes. The cluster service, which runs the program in a process of its own, gives it
 * what its survey of the cloud found, and where settings and objects are those with which the last run ended well, what was found then.
 */

/** What was wanted, as JSON, and what was found. */
export interface KnownFacts {
  readonly wanted: string;
  readonly facts: CloudFacts;
  /** Whether settings and objects are those with which the last run ended well. @default no */
  readonly asBefore?: boolean;
}

let given: KnownFacts | undefined;
let found: KnownFacts | undefined;

/** From now on look-ups of the same find this. */
export const giveFacts = (known: KnownFacts | undefined): void => {
  given = known;
};

/** Whether the service knows that settings and objects are the same as when a run ended well. */
export const isAsBefore = (): boolean => given?.asBefore === true;

/** What the cloud need not be asked for. */
export const knownFacts = (wanted: Wanted): CloudFacts | undefined =>
  given?.wanted === JSON.stringify(wanted) ? given.facts : undefined;

/** Remembers what the cloud answered, for the service. */
export const noteFacts = (wanted: Wanted, facts: CloudFacts): void => {
  found = { wanted: JSON.stringify(wanted), facts };
};

/** What the cloud answered last in this process. */
export const foundFacts = (): KnownFacts | undefined => found;
