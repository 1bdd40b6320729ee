/**
 * Minutes that a create of each kind of object may take in the cloud. They do not depend on the
 * speed of the cluster's machines, so `timeoutFactor` does not change them.
 */
export const createMinutes = { server: 30, volume: 20, loadBalancer: 15 } as const;

/** Longest time in minutes that a create in the cloud may take. */
export const longestCreateMinutes = Math.max(...Object.values(createMinutes));

/** Returns minutes as a value of `customTimeouts`. */
export const inMinutes = (minutes: number): string => `${String(minutes)}m`;
