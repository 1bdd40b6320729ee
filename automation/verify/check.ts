import { setTimeout as pause } from "node:timers/promises";
import type { SshTarget } from "../../cloud/ssh.js";
import type { KubernetesApi } from "./kubernetes-api.js";
import type { ClusterOutputs } from "./outputs.js";
import type { Fetched, Sessions } from "./ssh.js";

/** One check of the finished cluster and what was really seen. */
export interface Check {
  readonly name: string;
  readonly where: string;
  readonly ok: boolean;
  /** The answer that was fetched, or why there is none. */
  readonly answer: string;
}

export interface VerifyOptions {
  readonly outputs: ClusterOutputs;
  /** Whether the user brings the pod network along: a node that waits for it only is as it should be. */
  readonly ownPodNetwork?: boolean | undefined;
  /** A machine in the cluster's network, from which internal addresses and the other machines are asked. */
  readonly entry?: SshTarget | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds in which each check must succeed. Default: 60 000. */
  readonly timeout?: number | undefined;
  readonly onDetail?: (text: string) => void;
}

/** A look that has begun. */
export interface Look extends VerifyOptions {
  readonly api: KubernetesApi;
  readonly sessions: Sessions;
}

/** Milliseconds to the next try: soon at first, for what is nearly there. */
const shortestPause = 100;
const longestPause = 1_000;

/** Milliseconds in which each check must succeed, where no machine is slow. */
export const usualPatience = 60_000;

/** Tries until it succeeds or the time is over; the last failure is the answer. */
export async function eventually<T>(
  attempt: () => Promise<T>,
  { timeout = usualPatience, signal }: VerifyOptions,
): Promise<T> {
  const end = Date.now() + timeout;
  for (let next = shortestPause; ; next = Math.min(2 * next, longestPause)) {
    try {
      return await attempt();
    } catch (error) {
      const left = end - Date.now();
      if (left <= 0 || signal?.aborted === true) throw error;
      await pause(Math.min(next, left), undefined, { signal });
    }
  }
}

export async function check(
  name: string,
  where: string,
  { attempt, options }: { attempt: () => Promise<string>; options: VerifyOptions },
): Promise<Check> {
  options.onDetail?.(`${name} ${where}`);
  try {
    return { name, where, ok: true, answer: await eventually(attempt, options) };
  } catch (error) {
    return {
      name,
      where,
      ok: false,
      answer: error instanceof Error ? error.message : String(error),
    };
  }
}

const oneLine = (text: string): string => text.trim().split("\n")[0]?.slice(0, 80) ?? "";

export function accepted({ status, body }: Fetched): string {
  if (status !== 200) throw new Error(`HTTP ${status}: ${oneLine(body)}`);
  return `HTTP 200: ${oneLine(body)}`;
}
