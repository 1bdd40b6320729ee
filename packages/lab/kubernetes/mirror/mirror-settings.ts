import { Failure } from "../../../../base/failures/failure.js";
import { kubernetesPackageRepository } from "../../../../base/versions/pinned-versions.js";

/**
 * Source of upstream's own packages. Upstream's images are fetched from the registries in their
 * names.
 */
export interface MirrorSettings {
  /** URL of a flat apt repository. The minor version replaces `{minor}`. */
  readonly url: string;
  /** Fingerprint of the key that signs the repository, 40 hex digits. */
  readonly keyFingerprint: string;
}

const setting = "STACKADM_LAB_MIRROR";

/**
 * Returns the settings for mirroring upstream's own packages and images. `STACKADM_LAB_MIRROR` is
 * `auto`, `never`, or the URL of a copy of upstream's package repository, signed by upstream's key.
 * Returns undefined for `never`, the default: the lab builds everything itself.
 */
export function readMirrorSettings(
  env: NodeJS.ProcessEnv = process.env,
): MirrorSettings | undefined {
  const value = env[setting] ?? "never";
  if (value === "never") return undefined;
  if (value === "auto") return kubernetesPackageRepository;
  if (!/^https?:\/\/[^\s/]+\/\S*$/.test(value) || !URL.canParse(value)) {
    throw new Failure(
      "FAILED",
      `${setting}: ${value} must be auto, never or a URL such as ${kubernetesPackageRepository.url}.`,
    );
  }
  return { ...kubernetesPackageRepository, url: value };
}

/**
 * Time limit in milliseconds for an answer of upstream. After this time, the lab builds instead.
 */
const patience = 10_000;

/**
 * Calls `ask` with the time limit `patienceMs`. Returns the reason of a failure in one line, or
 * undefined if the call succeeds.
 */
export async function findUnavailabilityReason(
  ask: (signal: AbortSignal) => Promise<unknown>,
  signal?: AbortSignal,
  patienceMs = patience,
): Promise<string | undefined> {
  const late = AbortSignal.timeout(patienceMs);
  try {
    await ask(signal ? AbortSignal.any([signal, late]) : late);
    return undefined;
  } catch (error) {
    signal?.throwIfAborted();
    return late.aborted ? `no answer in ${patienceMs / 1000} s` : parseFailureReason(error);
  }
}

/**
 * Returns the reason why a tool failed. apt prints the reason after "E:", other tools print the
 * reason in their last line.
 */
export function parseFailureReason(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const apt = /^(?:.*: )?E: (?:Failed to fetch \S+ +)?(.*?)\.?(?: \[IP: .*\])?$/m.exec(text);
  const last = text.trimEnd().split("\n").at(-1) ?? "";
  return apt?.[1] ?? last.replace(/^.*: (?=\S)/, "").replace(/"$/, "");
}
