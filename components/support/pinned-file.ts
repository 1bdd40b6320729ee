import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { writePrivate } from "../../base/files.js";
import type { PinnedManifest } from "../../base/manifests.js";

export type PinnedText = { readonly text: string } | { readonly problem: string };

const digestOf = (content: Buffer): string => createHash("sha256").update(content).digest("hex");

/** Where such files are, on the machine that runs the program. */
export interface PinnedFiles {
  /** Directory against which a relative path counts. @default the process's own */
  readonly directory?: string;
  /** Directory that keeps what was fetched, by its digest. @default nothing is kept: it is fetched whenever it is read */
  readonly cache?: string;
}

/**
 * What is written at an address or path, if it is what its digest says; kept for the next time. It does not return before it
 * has it: what a file holds decides which resources there are, and a component makes them as soon as it is made itself.
 */
export function readPinned(
  { source, sha256 }: PinnedManifest,
  { directory = "", cache }: PinnedFiles = {},
): PinnedText {
  const isAddress = /^https?:\/\//.test(source);
  const kept = cache === undefined ? undefined : join(cache, sha256);
  try {
    if (!isAddress) return checked(readFileSync(resolve(directory, source)), source, sha256);
    if (kept !== undefined && existsSync(kept)) {
      const before = checked(readFileSync(kept), source, sha256);
      if ("text" in before) return before;
    }
    const found = checked(fetched(source), source, sha256);
    if (kept !== undefined && "text" in found) writePrivate(kept, found.text);
    return found;
  } catch (error) {
    return { problem: `${source} cannot be read: ${reasonOf(error)}; ${remedy}` };
  }
}

const remedy = "write an address or a path that this machine can read";

function checked(content: Buffer, source: string, sha256: string): PinnedText {
  const found = digestOf(content);
  return found === sha256
    ? { text: content.toString("utf8") }
    : {
        problem: `${source} has the SHA-256 ${found}, not ${sha256}; look at what has changed in it, then write its digest`,
      };
}

/** Run by itself: Node has no way to fetch that returns only when it is done. */
const fetching = `
  fetch(process.argv[1], { signal: AbortSignal.timeout(60000) }).then(async (answer) => {
    if (!answer.ok) throw new Error("HTTP " + answer.status);
    process.stdout.write(Buffer.from(await answer.arrayBuffer()));
  }).catch((error) => {
    process.stderr.write(String(error.cause?.message ?? error.message));
    process.exitCode = 1;
  });`;

function fetched(address: string): Buffer {
  // Where this Node knows how: by the proxy of the environment.
  const flags = ["--use-env-proxy"].filter((flag) => process.allowedNodeEnvironmentFlags.has(flag));
  return execFileSync(process.execPath, [...flags, "-e", fetching, "--", address], {
    maxBuffer: 32 * 1024 * 1024,
    timeout: 90_000,
    stdio: ["ignore", "pipe", "pipe"],
  });
}

function reasonOf(error: unknown): string {
  const said = (error as { stderr?: Buffer }).stderr?.toString().trim();
  if (said !== undefined && said !== "") return said.split("\n").at(-1) ?? said;
  return error instanceof Error ? error.message : String(error);
}
