import { homedir } from "node:os";
import { join } from "node:path";

/** What can be made again: toolchain, lab file systems, Kubernetes builds. `$XDG_CACHE_HOME/stackadm`. */
export function cacheDirectory(...parts: string[]): string {
  return join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "stackadm", ...parts);
}

/** What cannot: Pulumi state, keys, the running lab's facts. `$XDG_STATE_HOME/stackadm`. */
export function stateDirectory(...parts: string[]): string {
  return join(
    process.env["XDG_STATE_HOME"] ?? join(homedir(), ".local", "state"),
    "stackadm",
    ...parts,
  );
}
