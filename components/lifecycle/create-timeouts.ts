/**
 * Time limits in minutes for the creation of objects in the cloud. `timeoutFactor` does not change
 * these limits, because `timeoutFactor` is for slow machines and not for a slow cloud.
 */
export const creationTimeoutMinutes = { server: 30, volume: 20, loadBalancer: 15 } as const;

/** Largest of the time limits, in minutes. */
export const longestCreationTimeoutMinutes = Math.max(...Object.values(creationTimeoutMinutes));

/** Returns the minutes as text for Pulumi's `customTimeouts`. */
export const formatMinutes = (minutes: number): string => `${String(minutes)}m`;
