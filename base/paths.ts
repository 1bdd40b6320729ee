import { homedir } from "node:os";
import { basename, isAbsolute, join, resolve } from "node:path";

/**
 * Returns an XDG base directory: the value of `variable`, or the path `otherwise` in the home
 * directory if the value is empty or relative.
 */
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

/** Returns a path in the cache directory that the variables in `env` select. */
export const cacheDirectoryIn = (env: NodeJS.ProcessEnv, ...parts: string[]): string =>
  join(base(env, "XDG_CACHE_HOME", ".cache"), "stackadm", ...parts);

/**
 * Returns a path in `$XDG_STATE_HOME/stackadm`, for files that cannot be recreated: Pulumi state,
 * keys, facts of the running lab.
 */
export const stateDirectory = (...parts: string[]): string =>
  join(base(process.env, "XDG_STATE_HOME", ".local", "state"), "stackadm", ...parts);

/** Default name of the lab. */
export const defaultLabName = "stackadm-lab";

/** Returns the name of the lab and of the lab's cloud. `STACKADM_LAB_NAME` selects a second lab. */
export const labName = (env: NodeJS.ProcessEnv = process.env): string =>
  env["STACKADM_LAB_NAME"] ?? defaultLabName;

/** Returns the name of a lab's folder in the cache directory and in the state directory. */
export const labFolder = (name: string = labName()): string =>
  name === defaultLabName ? "lab" : name;

/**
 * Returns the root folder of the package, which contains Pulumi.yaml. Works from the sources and
 * from the compiled files in dist.
 */
export function packageRoot(): string {
  const parent = resolve(__dirname, "..");
  return basename(parent) === "dist" ? resolve(parent, "..") : parent;
}
