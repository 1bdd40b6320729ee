import { setTimeout as pause } from "node:timers/promises";
import { sendHttpRequest } from "../../../../openstack/http/http-exchange.js";

export interface Availability {
  /** Longest time in milliseconds between two answers. */
  readonly longestGap: number;
  readonly answered: number;
}

/** Sends requests to a service five times a second until `end` is called. */
export function watchService(url: string): { end(): Promise<Availability> } {
  let [longestGap, answered, last, running] = [0, 0, Date.now(), true];
  const loop = async (): Promise<void> => {
    while (running) {
      const { status } = await sendHttpRequest(url, { timeout: 1_000 }).catch(() => ({
        status: 0,
      }));
      const now = Date.now();
      longestGap = Math.max(longestGap, now - last);
      if (status === 200) {
        answered += 1;
        last = now;
      }
      await pause(200);
    }
  };
  const looping = loop();
  return {
    end: async () => {
      running = false;
      await looping;
      return { longestGap, answered };
    },
  };
}
