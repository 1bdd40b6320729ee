import { setTimeout as pause } from "node:timers/promises";
import type { SshTarget } from "../../base/ssh-client.js";
import type { KubernetesApi } from "./kubernetes-client.js";
import type { ClusterOutputs } from "./cluster-outputs.js";
import type { FetchResult, SshSessions } from "./ssh-sessions.js";
import type { Workload } from "./workload-checks.js";

/** Result of one check of the finished cluster. */
export interface Check {
  readonly name: string;
  readonly where: string;
  readonly ok: boolean;
  /** Answer of the checked part of the cluster, or the reason why the check failed. */
  readonly answer: string;
}

export interface VerifyOptions {
  readonly outputs: ClusterOutputs;
  /**
   * Whether the user installs the pod network. If true, the check accepts a node that is not ready
   * only because the pod network is missing.
   */
  readonly ownPodNetwork?: boolean | undefined;
  /**
   * Machine in the cluster's network. Through this machine, the verification reaches internal
   * addresses and the other machines.
   */
  readonly entry?: SshTarget | undefined;
  /** Workloads of the cluster's add-ons. Their pods must be available. @default none */
  readonly workloads?: readonly Workload[] | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds in which each check must succeed. Default: 60 000. */
  readonly timeout?: number | undefined;
  readonly onDetail?: (text: string) => void;
}

/** Running verification: options and clients. */
export interface VerificationRun extends VerifyOptions {
  readonly api: KubernetesApi;
  readonly sessions: SshSessions;
}

/**
 * Shortest and longest pause between two tries, in milliseconds. Each pause is twice as long as the
 * pause before. The first pauses are short, because most parts are ready soon.
 */
const shortestPause = 100;
const longestPause = 1_000;

/** Milliseconds in which each check must succeed, with `timeoutFactor` 1. */
export const defaultCheckTimeout = 60_000;

/**
 * Repeats the attempt until it succeeds. After the time limit, throws the error of the last
 * attempt.
 */
export async function retryUntilSuccess<T>(
  attempt: () => Promise<T>,
  { timeout = defaultCheckTimeout, signal }: VerifyOptions,
): Promise<T> {
  const end = performance.now() + timeout;
  for (let next = shortestPause; ; next = Math.min(2 * next, longestPause)) {
    try {
      return await attempt();
    } catch (error) {
      const left = end - performance.now();
      if (left <= 0 || signal?.aborted === true) throw error;
      await pause(Math.min(next, left), undefined, { signal });
    }
  }
}

export async function runCheck(
  name: string,
  where: string,
  { attempt, options }: { attempt: () => Promise<string>; options: VerifyOptions },
): Promise<Check> {
  options.onDetail?.(`${name} ${where}`);
  try {
    return { name, where, ok: true, answer: await retryUntilSuccess(attempt, options) };
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

export function requireHttpSuccess({ status, body }: FetchResult): string {
  if (status !== 200) throw new Error(`HTTP ${status}: ${oneLine(body)}`);
  return `HTTP 200: ${oneLine(body)}`;
}
