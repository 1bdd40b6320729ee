import type { RequiredLookups } from "../../openstack/checks/lookup-requirements.js";
import type { CloudFacts } from "./cloud-lookup.js";

/*
 * Facts about the cloud that the program need not look up. The cluster service runs the program in
 * a separate process and passes the facts to it. The facts come from the service's survey of the
 * cloud.
 */

/** Facts, and the lookups to which they belong. `wanted` contains the lookups as JSON. */
export interface KnownFacts {
  readonly wanted: string;
  readonly facts: CloudFacts;
}

let given: KnownFacts | undefined;

/** Sets the facts that `knownFacts` returns. */
export const setKnownFacts = (known: KnownFacts | undefined): void => {
  given = known;
};

/**
 * Returns the known facts if they belong to exactly these lookups. Otherwise returns undefined, and
 * the program must look up the facts in the cloud.
 */
export const knownFacts = (wanted: RequiredLookups): CloudFacts | undefined =>
  given?.wanted === JSON.stringify(wanted) ? given.facts : undefined;
