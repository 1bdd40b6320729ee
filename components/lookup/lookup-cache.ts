import type { RequiredLookups } from "../../openstack/checks/lookup-requirements.js";
import type { CloudFacts } from "./cloud-lookup.js";

/*
 * Facts about the cloud that the program need not look up. The cluster service runs the program in
 * a separate process and passes the facts to it. The facts come from the service's survey of the
 * cloud. If settings and objects are unchanged since the last successful run, they come from that
 * run.
 */

/** Facts, and the lookups to which they belong. `wanted` contains the lookups as JSON. */
export interface KnownFacts {
  readonly wanted: string;
  readonly facts: CloudFacts;
  /** Whether settings and objects are unchanged since the last successful run. @default false */
  readonly asBefore?: boolean;
}

let given: KnownFacts | undefined;
let found: KnownFacts | undefined;

/** Sets the facts that `knownFacts` returns. */
export const setKnownFacts = (known: KnownFacts | undefined): void => {
  given = known;
};

/**
 * Returns whether settings and objects are unchanged since the last successful run. The service
 * sends this information.
 */
export const isUnchangedSinceLastRun = (): boolean => given?.asBefore === true;

/**
 * Returns the known facts if they belong to exactly these lookups. Otherwise returns undefined, and
 * the program must look up the facts in the cloud.
 */
export const knownFacts = (wanted: RequiredLookups): CloudFacts | undefined =>
  given?.wanted === JSON.stringify(wanted) ? given.facts : undefined;

/** Stores the facts that the program has looked up. The service reads them later. */
export const storeFacts = (wanted: RequiredLookups, facts: CloudFacts): void => {
  found = { wanted: JSON.stringify(wanted), facts };
};

/** Returns the facts that this process looked up last. */
export const storedFacts = (): KnownFacts | undefined => found;
