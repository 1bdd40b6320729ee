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

export interface FailedRequest {
  /** Start time of the request, in seconds since the first request. */
  readonly second: number;
  readonly reason: string;
}

export interface RequestResults {
  readonly sent: number;
  readonly failed: readonly FailedRequest[];
}

/**
 * Sends a request to a service in each interval until `end` is called, whether or not the service
 * has answered the requests before. Each request opens a connection.
 */
export function sendRequests(
  url: string,
  intervalMilliseconds: number,
): { end(): Promise<RequestResults> } {
  const began = Date.now();
  const failed: FailedRequest[] = [];
  const open = new Set<Promise<void>>();
  let sent = 0;
  const send = async (): Promise<void> => {
    const second = (Date.now() - began) / 1_000;
    const reason = await sendHttpRequest(url, { timeout: 5_000, alone: true }).then(
      ({ status }) => (status === 200 ? undefined : `status ${String(status)}`),
      (error: unknown) => String(error),
    );
    if (reason !== undefined) failed.push({ second, reason });
  };
  const timer = setInterval(() => {
    sent += 1;
    const request: Promise<void> = send().finally(() => open.delete(request));
    open.add(request);
  }, intervalMilliseconds);
  return {
    end: async () => {
      clearInterval(timer);
      await Promise.all(open);
      return { sent, failed };
    },
  };
}
