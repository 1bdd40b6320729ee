import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { replacePrivateFile } from "../../base/atomic-files.js";
import { getEnvironmentCachePath } from "../../base/paths.js";
import {
  findProxy,
  getProxyVariables,
  type ProxyVariables,
} from "../../openstack/http/proxy-settings.js";

export type PinnedFileResult = { readonly text: string } | { readonly problem: string };

const digestOf = (content: Buffer): string => createHash("sha256").update(content).digest("hex");

/** Local directories for pinned files. */
export interface PinnedFileDirectories {
  /** Directory to which paths are relative. @default the current directory */
  readonly directory?: string;
  /**
   * Directory of downloaded files. The name of each file is its digest. @default each read
   * downloads the file again
   */
  readonly cache?: string;
  /** Environment variables that may name a proxy for downloads. @default no proxy */
  readonly proxies?: ProxyVariables;
}

/**
 * Returns the directories and the proxies for files that the settings name.
 *
 * @param directory directory to which paths are relative. Default: the current directory
 */
export const getPinnedFileDirectories = (
  env: NodeJS.ProcessEnv,
  directory?: string,
): PinnedFileDirectories => ({
  directory,
  cache: getEnvironmentCachePath(env, "manifests"),
  proxies: getProxyVariables(env),
});

/** File at a URL or path. */
export interface FileSource {
  readonly source: string;
  /** SHA-256 of the file. A file at a URL must have one. @default the file is not compared */
  readonly sha256?: string | undefined;
}

/**
 * Returns the text of the file at a URL or path. Returns a problem if the file's digest differs
 * from the expected digest. Caches downloads. Runs synchronously, because a constructor of a
 * component needs the text: the text determines which resources the constructor creates.
 */
export function readPinnedFile(
  { source, sha256 }: FileSource,
  { directory = "", cache, proxies = {} }: PinnedFileDirectories = {},
): PinnedFileResult {
  const isAddress = /^https?:\/\//.test(source);
  const kept = cache === undefined || sha256 === undefined ? undefined : join(cache, sha256);
  try {
    if (!isAddress) return checked(readFileSync(resolve(directory, source)), source, sha256);
    const before = kept === undefined ? undefined : readKept(kept, source, sha256);
    if (before) return before;
    const found = checked(fetched(source, proxies), source, sha256);
    if (kept !== undefined && "text" in found) replacePrivateFile(kept, found.text);
    return found;
  } catch (error) {
    return { problem: `${source} cannot be read: ${reasonOf(error)}; ${remedy}` };
  }
}

/** Returns the downloaded file in the cache. Returns undefined without it, or if it is damaged. */
function readKept(
  kept: string,
  source: string,
  sha256: string | undefined,
): PinnedFileResult | undefined {
  if (!existsSync(kept)) return undefined;
  const before = checked(readFileSync(kept), source, sha256);
  return "text" in before ? before : undefined;
}

const remedy = "write an address or a path that this machine can read";

function checked(content: Buffer, source: string, sha256: string | undefined): PinnedFileResult {
  const found = digestOf(content);
  return sha256 === undefined || found === sha256
    ? { text: content.toString("utf8") }
    : {
        problem: `${source} has the SHA-256 ${found}, not ${sha256}; check the changes, then write the new digest`,
      };
}

/**
 * Program for a child process that downloads a file. Node has no synchronous download. The proxy
 * comes from standard input, because other users can see arguments, and it may contain a password.
 */
const fetching = `
  const [, address, library] = process.argv;
  const proxy = require("node:fs").readFileSync(0, "utf8");
  const { fetch, ProxyAgent } = require(library);
  const dispatcher = proxy === "" ? undefined : new ProxyAgent({ uri: proxy, proxyTunnel: false });
  fetch(address, { dispatcher, signal: AbortSignal.timeout(60000) }).then(async (answer) => {
    if (!answer.ok) throw new Error("HTTP " + answer.status);
    process.stdout.write(Buffer.from(await answer.arrayBuffer()));
  }).catch((error) => {
    process.stderr.write(String(error.cause?.message ?? error.message));
    process.exitCode = 1;
  }).finally(() => dispatcher?.destroy());`;

function fetched(address: string, proxies: ProxyVariables): Buffer {
  const proxy = findProxy(new URL(address), proxies);
  return execFileSync(
    process.execPath,
    ["-e", fetching, "--", address, require.resolve("undici")],
    { input: proxy?.href ?? "", maxBuffer: 32 * 1024 * 1024, timeout: 90_000, stdio: "pipe" },
  );
}

function reasonOf(error: unknown): string {
  const stderr = (error as { stderr?: Buffer }).stderr?.toString().trim();
  if (stderr !== undefined && stderr !== "") return stderr.split("\n").at(-1) ?? stderr;
  return error instanceof Error ? error.message : String(error);
}
