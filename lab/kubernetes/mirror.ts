import { UserError } from "../../base/user-error.js";
import { upstreamPackages } from "../../base/versions.js";

/** Where upstream's own packages come from. Its images come from where their names say. */
export interface MirrorSettings {
  /** Flat apt repository; `{minor}` becomes the minor version. */
  readonly url: string;
  /** Of the key that signs it, 40 hex digits. */
  readonly keyFingerprint: string;
}

const setting = "STACKADM_LAB_MIRROR";

/**
 * Whether the lab takes upstream's own packages and images where they can be had: `STACKADM_LAB_MIRROR` is `auto`,
 * `never`, or the URL of a copy of upstream's package repository, which upstream's key signs. Undefined: everything is built, which is the
 * default as long as no lab has run on upstream's own images.
 */
export function mirrorSettings(env: NodeJS.ProcessEnv = process.env): MirrorSettings | undefined {
  const value = env[setting] ?? "never";
  if (value === "never") return undefined;
  if (value === "auto") return upstreamPackages;
  if (!/^https?:\/\/[^\s/]+\/\S*$/.test(value) || !URL.canParse(value)) {
    throw new UserError(
      `${setting}: ${value} must be auto, never or a URL such as ${upstreamPackages.url}.`,
    );
  }
  return { ...upstreamPackages, url: value };
}

/** How long upstream may take to answer at all before things are built instead. */
const patience = 10_000;

/** Asks whether something can be had, within `patienceMs`. Returns why not, in a line; nothing when it can. */
export async function whyNot(
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
    return late.aborted ? `no answer in ${patienceMs / 1000} s` : reason(error);
  }
}

/** Why a tool failed: apt says it behind an E:, the others at the end of all that they were doing. */
export function reason(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const apt = /^(?:.*: )?E: (?:Failed to fetch \S+ +)?(.*?)\.?(?: \[IP: .*\])?$/m.exec(text);
  const last = text.trimEnd().split("\n").at(-1) ?? "";
  return apt?.[1] ?? last.replace(/^.*: (?=\S)/, "").replace(/"$/, "");
}
