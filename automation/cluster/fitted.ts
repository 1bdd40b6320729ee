import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../../base/paths.js";
import { endingOf } from "../../cloud/cluster-credential.js";
import type { ClusterSpec } from "../../components/cluster-spec.js";
import type { Run } from "./run.js";
import { ownedIds, type StateExport } from "./state.js";

/*
 * A cluster that came up with these settings, and of which the state holds the same objects as then, needs nothing more of its cloud: two
 * dozen questions fewer for a run that has nothing to do. It is only remembered here; who does not remember it asks.
 */

const fileOf = ({ access }: Run): string => join(access.workspace.directory, "fitted");

/** What it has, and not what is on its way out: there is something to make then. */
function heldBy(state: StateExport): string[] {
  const stays = (state.deployment.resources ?? []).filter(
    (one) => one.delete !== true && one.pendingReplacement !== true,
  );
  return [...ownedIds({ ...state, deployment: { ...state.deployment, resources: stays } })].sort();
}

/** By which one knows it again. */
function keyOf(spec: ClusterSpec, state: StateExport): string {
  const release = readFileSync(join(packageRoot(), "package.json"), "utf8");
  const text = JSON.stringify([release, spec, heldBy(state)]);
  return createHash("sha256").update(text).digest("hex");
}

/** Whether this may be such a run, before the state is known. */
export const mayHaveFitted = (run: Run): boolean =>
  run.options.refresh !== true && existsSync(fileOf(run));

/** Whether it is one. What time alone brings about is told every time. */
export function hasFitted(run: Run, spec: ClusterSpec, state: StateExport | undefined): boolean {
  const end = spec.credential?.expiresAt;
  return (
    state !== undefined &&
    mayHaveFitted(run) &&
    readFileSync(fileOf(run), "utf8") === keyOf(spec, state) &&
    (end === undefined || endingOf(end) === undefined)
  );
}

/** Remembers what came up well. Whoever cannot asks again. */
export function rememberFitted(
  run: Run,
  spec: ClusterSpec | undefined,
  state: StateExport | undefined,
): void {
  if (!spec || !state) return;
  try {
    writeFileSync(fileOf(run), keyOf(spec, state), { mode: 0o600 });
  } catch (error) {
    run.note(`That this cluster fits into its cloud cannot be remembered: ${String(error)}`);
  }
}
