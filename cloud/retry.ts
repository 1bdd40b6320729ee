import { setTimeout as after } from "node:timers/promises";
import type { HttpAnswer } from "./http.js";

/*
 * What is asked again:
 *   429, 503              everything, since the cloud says that it did not take the request up;
 *   500, 502, 504, reset  only what may be done twice. The request may have been carried out although its answer says
 *                         otherwise or got lost, and a second POST would make a second object.
 * Nothing else is: a certificate stays wrong, a name unknown, and who waited a minute for an answer waited long enough. A port
 * that refuses is said at once, because a wrong auth_url looks the same.
 *
 * Own code, because node:http repeats nothing, and undici's RetryAgent has neither jitter nor a way to tell why it waits.
 */

/** How requests are made again; tests put their own clock in. */
export interface Patience {
  /** Waits so many milliseconds. */
  readonly pause: (milliseconds: number) => Promise<unknown>;
  /** From 0 to 1: several who were refused at once should not come back at once. */
  readonly random: () => number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Hears before each wait in one sentence what is waited for. */
  readonly onWait: (text: string) => void;
}

export const defaultPatience: Patience = {
  pause: after,
  random: Math.random,
  now: Date.now,
  onWait: () => undefined,
};

/** The last try is the fifth; between them at most 1, 2, 4 and 8 s, or what the cloud asks for. */
export const mostTries = 5;
const firstWait = 1000;
/** Who asks for a longer wait is not waited for. */
const longestWait = 60_000;

export type Outcome = { readonly answer: HttpAnswer } | { readonly error: NodeJS.ErrnoException };

/** How it ended, and how often it was tried. */
export interface Tried {
  readonly outcome: Outcome;
  readonly times: number;
}

export interface Repeated {
  /** What is asked, for messages: `GET compute /servers`. */
  readonly what: string;
  /** Whether doing it twice is the same as doing it once. */
  readonly repeatable: boolean;
  /** How often it is asked for at most. Default: {@link mostTries}. */
  readonly tries?: number | undefined;
}

const notTakenUp = new Set([429, 503]);
const perhapsDone = new Set([500, 502, 504]);
const broken = new Set(["ECONNRESET", "EPIPE"]);

/** Did the connection break before the whole answer was there? */
export const brokeOff = ({ code }: NodeJS.ErrnoException): boolean =>
  code !== undefined && broken.has(code);

/** Milliseconds that the answer asks to wait: `Retry-After` in seconds or as a date. */
export function askedToWait({ headers }: HttpAnswer, now: number): number {
  const text = headers["retry-after"]?.trim() ?? "";
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const until = Date.parse(text);
  return Number.isNaN(until) ? 0 : Math.max(0, until - now);
}

/** Why it is worth another try; undefined when it is not. */
function reasonIn(outcome: Outcome, repeatable: boolean): string | undefined {
  if ("error" in outcome)
    return repeatable && brokeOff(outcome.error) ? "the connection broke" : undefined;
  const { status } = outcome.answer;
  return notTakenUp.has(status) || (repeatable && perhapsDone.has(status))
    ? `the cloud answered ${status}`
    : undefined;
}

/** Milliseconds before the next try; undefined when the cloud wants more than we give. */
function waitBefore(
  outcome: Outcome,
  tried: number,
  { random, now }: Patience,
): number | undefined {
  const own = firstWait * 2 ** (tried - 1) * (0.5 + random() / 2);
  const asked = "answer" in outcome ? askedToWait(outcome.answer, now()) : 0;
  return asked > longestWait ? undefined : Math.max(own, asked);
}

async function attempt(send: () => Promise<HttpAnswer>): Promise<Outcome> {
  try {
    return { answer: await send() };
  } catch (error) {
    return { error: error as NodeJS.ErrnoException };
  }
}

/** Sends it until there is an answer to live with, at most {@link mostTries} times. */
export async function persist(
  send: () => Promise<HttpAnswer>,
  { what, repeatable, tries = mostTries }: Repeated,
  patience: Patience,
): Promise<Tried> {
  for (let times = 1; ; times += 1) {
    const outcome = await attempt(send);
    const reason = times < tries ? reasonIn(outcome, repeatable) : undefined;
    const wait = reason === undefined ? undefined : waitBefore(outcome, times, patience);
    if (reason === undefined || wait === undefined) return { outcome, times };
    patience.onWait(
      `${what}: ${reason}; try ${times + 1} of ${tries} comes in ${Math.ceil(wait / 1000)} s.`,
    );
    await patience.pause(wait);
  }
}
