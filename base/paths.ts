import { homedir } from "node:os";
import { basename, isAbsolute, join, resolve } from "node:path";

/** A base directory of the XDG specification: an empty or relative value counts as none. */
function base(env: NodeJS.ProcessEnv, variable: string, ...otherwise: string[]): string {
  const named = env[variable] ?? "";
  return isAbsolute(named) ? named : join(homedir(), ...otherwise);
}

/** What can be made again: toolchain, lab file systems, Kubernetes builds. `$XDG_CACHE_HOME/stackadm`. */
export const cacheDirectory = (...parts: string[]): string =>
  cacheDirectoryIn(process.env, ...parts);

/** The same in another environment. */
export const cacheDirectoryIn = (env: NodeJS.ProcessEnv, ...parts: string[]): string =>
  join(base(env, "XDG_CACHE_HOME", ".cache"), "stackadm", ...parts);

/** What cannot: Pulumi state, keys, the running lab's facts. `$XDG_STATE_HOME/stackadm`. */
export const stateDirectory = (...parts: string[]): string =>
  join(base(process.env, "XDG_STATE_HOME", ".local", "state"), "stackadm", ...parts);

/** Name of the lab where nobody gives it another. */
export const usualLab = "stackadm-lab";

/** Name of the lab that is meant, and of its cloud: `STACKADM_LAB_NAME` names a second one. */
export const labName = (env: NodeJS.ProcessEnv = process.env): string =>
  env["STACKADM_LAB_NAME"] ?? usualLab;

/** Folder of a lab's files below these. */
export const labFolder = (name: string = labName()): string => (name === usualLab ? "lab" : name);

/** The package's root: where Pulumi.yaml lies, whether sources or compiled files run. */
export function packageRoot(): string {
  const parent = resolve(__dirname, "..");
  return basename(parent) === "dist" ? resolve(parent, "..") : parent;
}
