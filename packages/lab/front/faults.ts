/**
 * Faults that a test can switch on for a host of the front: `limit` (answers 429, only Docker Hub),
 * `html` (answers a page instead of a file).
 */
export type FrontFault = "html" | "limit";

/** Folder in the cloud. Each file in this folder switches one fault on. */
export const faultFolder = "/srv/lab/faults/front";

/** Returns the path of the file that switches a host's fault on. */
export const getFaultFile = (host: string, fault: FrontFault): string =>
  `${faultFolder}/${host}.${fault}`;

/**
 * Returns the path of the file that switches on an expired `Release.key` for a minor ("1.36").
 * Upstream has expired keys for minors that have reached their end of life.
 */
export const getExpiredKeyFile = (minor: string): string => `${faultFolder}/expired-v${minor}`;
