import { z } from "zod";
import { run } from "../../base/run-command.js";
import { findMissingCommands } from "../../base/host-packages.js";

/** Version of this computer's kubectl, and advice if it does not fit a cluster. */
export interface KubectlCheckResult {
  /** Version that kubectl prints, for example "v1.36.3". Absent if there is no working kubectl. */
  readonly version?: string;
  /** Sentence with the problem and the remedy. Absent if kubectl fits the cluster. */
  readonly advice?: string;
}

export interface KubectlOptions {
  /** Environment of kubectl. Default: the process environment. */
  readonly env?: NodeJS.ProcessEnv;
  /** Time limit in milliseconds for kubectl's answer. Default: 5000. */
  readonly timeout?: number;
}

const answerSchema = z.object({ clientVersion: z.object({ gitVersion: z.string() }) });

async function clientVersion({
  env,
  timeout = 5_000,
}: KubectlOptions): Promise<string | undefined> {
  try {
    const signal = AbortSignal.timeout(timeout);
    const { stdout } = await run("kubectl", ["version", "--client", "-o", "json"], { env, signal });
    return answerSchema.parse(JSON.parse(stdout)).clientVersion.gitVersion;
  } catch {
    return undefined; // no reason to fail
  }
}

const numbers = (version: string): [number, number] => {
  const [, major, minor] = /^v?(\d+)\.(\d+)/.exec(version) ?? [];
  return [Number(major), Number(minor)];
};

/**
 * Returns kubectl's version, and advice if kubectl does not fit the cluster. kubectl may be at most
 * one minor version older or newer than the cluster. Never throws.
 *
 * @param cluster Kubernetes version of the cluster
 */
export async function checkKubectl(
  cluster: string,
  options: KubectlOptions = {},
): Promise<KubectlCheckResult> {
  const [major, minor] = numbers(cluster);
  const install = `install one of ${major}.${minor - 1} to ${major}.${minor + 1} (https://kubernetes.io/docs/tasks/tools/)`;
  const path = (options.env ?? process.env)["PATH"] ?? "";
  if (findMissingCommands({ kubectl: "kubectl" }, path).length > 0)
    return { advice: `kubectl is not installed on this machine: ${install}` };
  const version = await clientVersion(options);
  if (version === undefined)
    return { advice: `kubectl of this machine does not report its version: ${install}` };
  const [clientMajor, clientMinor] = numbers(version);
  if (clientMajor === major && Math.abs(clientMinor - minor) <= 1) return { version };
  return {
    version,
    advice: `kubectl of this machine is ${version}, too far from the cluster's ${cluster}: ${install}`,
  };
}
