import { homedir } from "node:os";
import { basename, isAbsolute, join, resolve } from "node:path";

/** Returns a base directory of the XDG specification. An empty or relative value is ignored. */
function base(env: NodeJS.ProcessEnv, variable: string, ...otherwise: string[]): string {
  const named = env[variable] ?? "";
  return isAbsolute(named) ? named : join(homedir(), ...otherwise);
}

/**
 * Returns a path in `$XDG_CACHE_HOME/stackadm`, for files that can be recreated: toolchain, lab
 * file systems, Kubernetes builds.
 */
export const cacheDirectory = (...parts: string[]): string =>
  cacheDirectoryIn(process.env, ...parts);

/** Returns a path in the cache directory of another environment. */
export const cacheDirectoryIn = (env: NodeJS.ProcessEnv, ...parts: string[]): string =>
  join(base(env, "XDG_CACHE_HOME", ".cache"), "stackadm", ...parts);

/**
 * Returns a path in `$XDG_STATE_HOME/stackadm`, for files that cannot be recreated: Pulumi state,
 * keys, facts of the running lab.
 */
export const stateDirectory = (...parts: string[]): string =>
  join(base(process.env, "XDG_STATE_HOME", ".local", "state"), "stackadm", ...parts);

/** Default name of the lab. */
export const usualLab = "stackadm-lab";

/** Returns the name of the lab and of its cloud. `STACKADM_LAB_NAME` selects a second lab. */
export const labName = (env: NodeJS.ProcessEnv = process.env): string =>
  env["STACKADM_LAB_NAME"] ?? usualLab;

/** Returns the folder of a lab within these directories. */
export const labFolder = (name: string = labName()): string => (name === usualLab ? "lab" : name);

/**
 * Returns the root of the package, which contains Pulumi.yaml, for sources and for compiled files.
 */
export function packageRoot(): string {
  const parent = resolve(__dirname, "..");
  return basename(parent) === "dist" ? resolve(parent, "..") : parent;
}
