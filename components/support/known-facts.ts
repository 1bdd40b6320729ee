import type { Wanted } from "../../cloud/wanted.js";
import type { CloudFacts } from "./catalog.js";

/*
 * Facts of the cloud that need no lookup. The program's lookups decide what it creates. The cluster
 * service runs the program in a separate process and passes it the facts from its survey of the
 * cloud or, if settings and objects are unchanged since the last successful run, from that run.
 */

/** Requested lookups as JSON, and their results. */
export interface KnownFacts {
  readonly wanted: string;
  readonly facts: CloudFacts;
  /** Whether settings and objects are unchanged since the last successful run. @default no */
  readonly asBefore?: boolean;
}

let given: KnownFacts | undefined;
let found: KnownFacts | undefined;

/** Sets the facts that later lookups of the same things return. */
export const giveFacts = (known: KnownFacts | undefined): void => {
  given = known;
};

/** Returns whether the service found settings and objects unchanged since a successful run. */
export const isAsBefore = (): boolean => given?.asBefore === true;

/** Returns the facts given for exactly these lookups; undefined if the cloud must be asked. */
export const knownFacts = (wanted: Wanted): CloudFacts | undefined =>
  given?.wanted === JSON.stringify(wanted) ? given.facts : undefined;

/** Stores the cloud's answers for the service. */
export const noteFacts = (wanted: Wanted, facts: CloudFacts): void => {
  found = { wanted: JSON.stringify(wanted), facts };
};

/** Returns the cloud's last answers in this process. */
export const foundFacts = (): KnownFacts | undefined => found;
