/** Faults that a host of the front has on demand: `limit` (429, only Docker Hub), `html` (a page where a file was asked for). */
export type FrontFault = "html" | "limit";

/** Folder in the cloud. A file in it is a fault as long as it is there. */
export const faultFolder = "/srv/lab/faults/front";

/** File whose presence gives a host the fault. */
export const faultFile = (host: string, fault: FrontFault): string =>
  `${faultFolder}/${host}.${fault}`;

/** File whose presence lets `Release.key` of a minor ("1.36") be one that has expired, as those of ended minors are. */
export const expiredKeyFile = (minor: string): string => `${faultFolder}/expired-v${minor}`;
