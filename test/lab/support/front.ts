import { faultFolder } from "../../../lab/front/faults.js";
import { frontLog } from "../../../lab/front/nginx.js";
import { inCloud } from "./machines.js";

/** Has the front do something wrong while `work` runs: `file` is one of lab/front/faults.ts. */
export async function withFault<T>(file: string, work: () => Promise<T>): Promise<T> {
  await inCloud(`mkdir -p ${faultFolder} && touch ${file}`);
  try {
    return await work();
  } finally {
    await inCloud(`rm -f ${file}`);
  }
}

/** Everything that the front was asked for since the lab came up: host, request and status, a line each. */
export const askedOfFront = (): Promise<string> => inCloud(`cat ${frontLog}`);
