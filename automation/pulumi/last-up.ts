import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { replacePrivateFile } from "../../base/atomic-files.js";
import { isSystemError } from "../../base/failures/expected-errors.js";
import type { Workspace } from "./workspace.js";

/*
 * Notes in the stack's private directory when the last `up` began and finished. The engine's
 * history lacks killed runs, and the history in a restored backup of the backend lacks newer runs.
 * With the note, the repair knows the period in which a killed run created objects. Without a note,
 * the repair keeps more objects.
 */

type Place = Pick<Workspace, "directory">;

/**
 * Start and end of the last `up` on this machine that may have changed resources, in milliseconds
 * since 1970.
 */
export interface LastUp {
  readonly from: number;
  /**
   * End of the run, successful or failed. Absent: the run still runs, was killed, or may have left
   * pending operations.
   */
  readonly to?: number;
}

export const lastUpPath = ({ directory }: Place): string => join(directory, "begun");

/** Returns the noted times; undefined if there is no readable note. */
export function readLastUp(place: Place): LastUp | undefined {
  try {
    const [from = NaN, to = NaN] = readFileSync(lastUpPath(place), "utf8").split(" ").map(Number);
    return from > 0 ? { from, ...(to >= from && { to }) } : undefined;
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}

function writeNote(place: Place, begun: LastUp | undefined): void {
  try {
    if (begun) replacePrivateFile(lastUpPath(place), Object.values(begun).join(" "));
    else rmSync(lastUpPath(place), { force: true });
  } catch (error) {
    // Without a note, the repair keeps more objects.
    if (!isSystemError(error)) throw error;
  }
}

/** Handle with which the caller notes the end of an `up`. */
export interface RecordedUp {
  /** Notes that the run has finished. */
  readonly end: () => void;
  /**
   * Restores the previous note, for a run that changed nothing: the previous note still describes
   * the state.
   */
  readonly undo: () => void;
}

/** Notes that an `up` begins, and returns the handle to note its end. */
export function recordUpBegin(place: Place, from: number = Date.now()): RecordedUp {
  const before = readLastUp(place);
  writeNote(place, { from });
  return {
    end: () => {
      writeNote(place, { from, to: Date.now() });
    },
    undo: () => {
      writeNote(place, before);
    },
  };
}
