import { faultFolder } from "../../../../packages/lab/front/faults.js";
import { frontLog } from "../../../../packages/lab/front/nginx.js";
import { inCloud } from "../machines/machines.js";

/** Enables a fault of the front (a file of packages/lab/front/faults.ts) while `work` runs. */
export async function withFault<T>(file: string, work: () => Promise<T>): Promise<T> {
  await inCloud(`mkdir -p ${faultFolder} && touch ${file}`);
  try {
    return await work();
  } finally {
    await inCloud(`rm -f ${file}`);
  }
}

/**
 * Returns all requests to the front since the lab started, one per line: host, request and status.
 */
export const askedOfFront = (): Promise<string> => inCloud(`cat ${frontLog}`);
