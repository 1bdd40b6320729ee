import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { writePrivate } from "../../base/files.js";
import type { Workspace } from "./workspace.js";

/*
 * The engine records only runs that finished. So each `up` notes in the stack's private directory
 * when it began and finished: after a kill, repair then knows in which period an object was
 * created. A backend that was restored from a backup lacks these times, too. Without the note,
 * repair deletes less.
 */

type Place = Pick<Workspace, "directory">;

/**
 * Times of the last `up` started here that may have changed anything, in milliseconds since 1970.
 */
export interface Begun {
  readonly from: number;
  /**
   * End of the run, successful or failed, with no pending operation left. Absent: the run was
   * killed or still runs.
   */
  readonly to?: number;
}

export const begunPath = ({ directory }: Place): string => join(directory, "begun");

/** Returns the noted times; undefined if there is no readable note. */
export function begunAt(place: Place): Begun | undefined {
  try {
    const [from = NaN, to = NaN] = readFileSync(begunPath(place), "utf8").split(" ").map(Number);
    return from > 0 ? { from, ...(to >= from && { to }) } : undefined;
  } catch {
    return undefined;
  }
}

function writeNote(place: Place, begun: Begun | undefined): void {
  try {
    if (begun) writePrivate(begunPath(place), Object.values(begun).join(" "));
    else rmSync(begunPath(place), { force: true });
  } catch {
    // Without a note, repair deletes less.
  }
}

/** Handle of an `up` that was noted; its caller reports how the run ended. */
export interface Noted {
  /** Notes that the run has finished. */
  readonly end: () => void;
  /**
   * Restores the previous note: the run did nothing, so the previous note still describes the
   * state.
   */
  readonly undo: () => void;
}

/** Notes that an `up` begins, and returns the handle to note its end. */
export function noteBegin(place: Place, from: number = Date.now()): Noted {
  const before = begunAt(place);
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
