import { faultFolder } from "../../../../packages/lab/front/faults.js";
import { frontLog } from "../../../../packages/lab/front/nginx.js";
import { inCloud } from "../machines/machines.js";

/**
 * Enables a fault of the front while `work` runs. The front is the nginx that answers for the
 * upstream download hosts. packages/lab/front/faults.ts returns the path of `file`.
 */
export async function withFault<T>(file: string, work: () => Promise<T>): Promise<T> {
  await inCloud(`mkdir -p ${faultFolder} && touch ${file}`);
  try {
    return await work();
  } finally {
    await inCloud(`rm -f ${file}`);
  }
}

/**
 * Returns all requests to the front since the lab started. Each line contains the host, the request
 * and the status.
 */
export const askedOfFront = (): Promise<string> => inCloud(`cat ${frontLog}`);
