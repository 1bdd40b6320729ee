import { setTimeout as after } from "node:timers/promises";
import { Failure } from "../../base/failures/failure.js";
import type { HttpAnswer } from "./http-exchange.js";

/*
 * Failed requests that are sent again:
 *   429, 503              all requests, because the cloud states that it did not accept them.
 *   500, 502, 504, reset  only repeatable requests. The cloud may have executed the request,
 *                         although the response failed or was lost. A second POST would create a
 *                         second object.
 * All other failures are final. A retry does not correct a wrong certificate or name. A timeout
 * already takes a minute. A refused connection may be the result of a wrong auth_url.
 *
 * No library meets these needs: node:http does not retry, and undici's RetryAgent has neither
 * jitter nor a way to report the reason for a wait.
 */

/** Functions for time, waiting and randomness. Tests replace these functions. */
export interface RetryClock {
  /** Waits for the given milliseconds, or until the signal is aborted. */
  readonly pause: (milliseconds: number, signal?: AbortSignal) => Promise<unknown>;
  /**
   * Returns a random number from 0 to 1. The number varies the wait, so that not all clients retry
   * at the same time.
   */
  readonly random: () => number;
  /** Returns the milliseconds since 1970. */
  readonly now: () => number;
  /** Reports the reason for a wait in one sentence. Called before each wait. */
  readonly onWait: (text: string) => void;
  /** Signal that ends the waits. The outcome of the last try is then final. */
  readonly signal?: AbortSignal | undefined;
}

async function pauseUnlessAborted(milliseconds: number, signal?: AbortSignal): Promise<void> {
  await after(milliseconds, undefined, signal && { signal }).catch((error: unknown) => {
    if (signal?.aborted !== true) throw error;
  });
}

export const defaultRetryClock: RetryClock = {
  pause: pauseUnlessAborted,
  random: Math.random,
  now: Date.now,
  onWait: () => undefined,
};

/**
 * Largest number of tries. The waits between two tries are at most 1, 2, 4 and 8 s. The program
 * waits longer if the cloud requests a longer wait.
 */
export const maximumTries = 5;
const firstWait = 1000;
/** Longest wait in milliseconds. The request fails if the cloud requests a longer wait. */
const longestWait = 60_000;

export type RequestOutcome =
  { readonly answer: HttpAnswer } | { readonly error: NodeJS.ErrnoException };

/** Result of the last try, and the number of tries. */
export interface TryResult {
  readonly outcome: RequestOutcome;
  readonly times: number;
}

export interface RetryOptions {
  /** Description of the request, for messages: `GET compute /servers`. */
  readonly what: string;
  /** Whether the request can be executed twice without a further effect. */
  readonly repeatable: boolean;
  /** Largest number of tries. Default: {@link maximumTries}. */
  readonly tries?: number | undefined;
}

const notAcceptedStatuses = new Set([429, 503]);
const possiblyExecutedStatuses = new Set([500, 502, 504]);
const broken = new Set(["ECONNRESET", "EPIPE"]);

/** Returns whether the connection broke before the response was complete. */
export const isBrokenConnection = ({ code }: NodeJS.ErrnoException): boolean =>
  code !== undefined && broken.has(code);

/**
 * Returns the wait that the response's header `Retry-After` requests, in milliseconds. The header
 * contains seconds or a date. Returns 0 without the header.
 */
export function parseRetryAfter({ headers }: HttpAnswer, now: number): number {
  const text = headers["retry-after"]?.trim() ?? "";
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const until = Date.parse(text);
  return Number.isNaN(until) ? 0 : Math.max(0, until - now);
}

/** Returns the reason for another try. Returns undefined if the outcome is final. */
function reasonIn(outcome: RequestOutcome, repeatable: boolean): string | undefined {
  if ("error" in outcome)
    return repeatable && isBrokenConnection(outcome.error) ? "the connection broke" : undefined;
  const { status } = outcome.answer;
  return notAcceptedStatuses.has(status) || (repeatable && possiblyExecutedStatuses.has(status))
    ? `the cloud answered ${status}`
    : undefined;
}

/**
 * Returns the milliseconds to wait before the next try. Returns undefined if the cloud requests
 * more than {@link longestWait}.
 */
function waitBefore(
  outcome: RequestOutcome,
  tried: number,
  { random, now }: RetryClock,
): number | undefined {
  const own = firstWait * 2 ** (tried - 1) * (0.5 + random() / 2);
  const asked = "answer" in outcome ? parseRetryAfter(outcome.answer, now()) : 0;
  return asked > longestWait ? undefined : Math.max(own, asked);
}

async function attempt(send: () => Promise<HttpAnswer>): Promise<RequestOutcome> {
  try {
    return { answer: await send() };
  } catch (error) {
    // A wrong setting of the user, for example of the proxy.
    if (error instanceof Failure) throw error;
    return { error: error as NodeJS.ErrnoException };
  }
}

/** Sends a request until the outcome is final, but at most `tries` times. */
export async function retryRequest(
  send: () => Promise<HttpAnswer>,
  { what, repeatable, tries = maximumTries }: RetryOptions,
  clock: RetryClock,
): Promise<TryResult> {
  for (let times = 1; ; times += 1) {
    const outcome = await attempt(send);
    const mayRetry = times < tries && clock.signal?.aborted !== true;
    const reason = mayRetry ? reasonIn(outcome, repeatable) : undefined;
    const wait = reason === undefined ? undefined : waitBefore(outcome, times, clock);
    if (reason === undefined || wait === undefined) return { outcome, times };
    clock.onWait(
      `${what}: ${reason}; attempt ${times + 1} of ${tries} follows in ${Math.ceil(wait / 1000)} s.`,
    );
    await clock.pause(wait, clock.signal);
    if (clock.signal?.aborted === true) return { outcome, times };
  }
}
