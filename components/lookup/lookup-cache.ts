import type { RequiredLookups } from "../../openstack/checks/cloud-lookups.js";
import type { CloudFacts } from "./cloud-lookup.js";

/*
 * Facts of the cloud that the program need not look up. The cluster service runs the program in a
 * separate process. It passes facts from its survey of the cloud to the program. If settings and
 * objects are unchanged since the last successful run, it passes the facts of that run.
 */

/** Wanted lookups as JSON, and the results. */
export interface KnownFacts {
  readonly wanted: string;
  readonly facts: CloudFacts;
  /** Whether settings and objects are unchanged since the last successful run. @default no */
  readonly asBefore?: boolean;
}

let given: KnownFacts | undefined;
let found: KnownFacts | undefined;

/** Sets the facts that `knownFacts` returns for the same lookups. */
export const setKnownFacts = (known: KnownFacts | undefined): void => {
  given = known;
};

/**
 * Returns whether settings and objects are unchanged since a successful run, according to the
 * service.
 */
export const isUnchangedSinceLastRun = (): boolean => given?.asBefore === true;

/**
 * Returns the given facts if they are for exactly these lookups. Undefined: the program must ask
 * the cloud.
 */
export const knownFacts = (wanted: RequiredLookups): CloudFacts | undefined =>
  given?.wanted === JSON.stringify(wanted) ? given.facts : undefined;

/** Stores the results of lookups in the cloud, for the service. */
export const storeFacts = (wanted: RequiredLookups, facts: CloudFacts): void => {
  found = { wanted: JSON.stringify(wanted), facts };
};

/** Returns the results of the last lookups in the cloud by this process. */
export const storedFacts = (): KnownFacts | undefined => found;
