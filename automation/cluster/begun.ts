import { readFileSync } from "node:fs";
import { join } from "node:path";
import { writePrivate } from "../../base/files.js";
import type { Workspace } from "./workspace.js";

/*
 * The engine records a run when that comes to its end, so of one that was killed nobody can say when it began but who started it. It is
 * noted in the stack's private directory; who does not find it there knows less, and leaves more.
 */

export const begunPath = ({ directory }: Pick<Workspace, "directory">): string =>
  join(directory, "begun");

/** Notes that an `up` of ours begins. */
export function noteBegin(workspace: Pick<Workspace, "directory">, at: number = Date.now()): void {
  try {
    writePrivate(begunPath(workspace), String(at));
  } catch {
    // As where nobody noted it: the time before it is no later.
  }
}

/** When the last `up` of ours began, in milliseconds since 1970; undefined where nobody noted it. */
export function begunAt(workspace: Pick<Workspace, "directory">): number | undefined {
  try {
    const at = Number(readFileSync(begunPath(workspace), "utf8"));
    return at > 0 ? at : undefined;
  } catch {
    return undefined;
  }
}
