import { homedir } from "node:os";
import { basename, isAbsolute, join, resolve } from "node:path";

/**
 * Returns an XDG base directory, which is the value of `variable`. If the value is empty or a
 * relative path, returns the path `otherwise` in the home directory.
 */
function base(env: NodeJS.ProcessEnv, variable: string, ...otherwise: string[]): string {
  const named = env[variable] ?? "";
  return isAbsolute(named) ? named : join(homedir(), ...otherwise);
}

/**
 * Returns a path in `$XDG_CACHE_HOME/stackadm`. This directory is for files that can be created
 * again: toolchain, lab file systems, Kubernetes builds.
 */
export const getCachePath = (...parts: string[]): string =>
  getEnvironmentCachePath(process.env, ...parts);

/** Returns a path in the cache directory. The variables in `env` determine the cache directory. */
export const getEnvironmentCachePath = (env: NodeJS.ProcessEnv, ...parts: string[]): string =>
  join(base(env, "XDG_CACHE_HOME", ".cache"), "stackadm", ...parts);

/**
 * Returns a path in `$XDG_STATE_HOME/stackadm`. This directory is for files that cannot be created
 * again: Pulumi state, keys, facts of the running lab.
 */
export const getStatePath = (...parts: string[]): string =>
  join(base(process.env, "XDG_STATE_HOME", ".local", "state"), "stackadm", ...parts);

/** Default name of the lab. */
export const defaultLabName = "stackadm-lab";

/**
 * Returns the name of the lab, which is also the name of its cloud. The variable
 * `STACKADM_LAB_NAME` selects another lab than the default one.
 */
export const getLabName = (env: NodeJS.ProcessEnv = process.env): string =>
  env["STACKADM_LAB_NAME"] ?? defaultLabName;

/**
 * Returns the name of a lab's folder, which exists in the cache directory and in the state
 * directory.
 */
export const getLabFolderName = (name: string = getLabName()): string =>
  name === defaultLabName ? "lab" : name;

/**
 * Returns the root folder of the package, which contains Pulumi.yaml. Works both from the sources
 * and from the compiled files in dist.
 */
export function getPackageRoot(): string {
  const parent = resolve(__dirname, "..");
  return basename(parent) === "dist" ? resolve(parent, "..") : parent;
}
