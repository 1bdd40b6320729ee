import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { replacePrivateFile } from "../../base/atomic-files.js";
import { isSystemError } from "../../base/failures/expected-errors.js";
import type { StackWorkspace } from "./workspace.js";

/*
 * Records in the stack's private directory when the last `up` began and ended. From this record,
 * the repair knows in which period a killed run created objects. The engine's history is not
 * sufficient: it does not contain killed runs and, after a restore of the backend from a backup,
 * newer runs. Without the record, the repair keeps more objects.
 */

type Place = Pick<StackWorkspace, "directory">;

/**
 * Start and end of the last `up` on this machine that may have changed resources, in milliseconds
 * since 1970.
 */
export interface LastUp {
  readonly from: number;
  /**
   * End of the run, whether it succeeded or failed. Absent if the run is active, was killed, or may
   * have left pending operations.
   */
  readonly to?: number;
}

export const getLastUpPath = ({ directory }: Place): string => join(directory, "begun");

/** Returns the recorded times. Returns undefined if there is no readable record. */
export function readLastUp(place: Place): LastUp | undefined {
  try {
    const [from = NaN, to = NaN] = readFileSync(getLastUpPath(place), "utf8")
      .split(" ")
      .map(Number);
    return from > 0 ? { from, ...(to >= from && { to }) } : undefined;
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}

function writeNote(place: Place, begun: LastUp | undefined): void {
  try {
    if (begun) replacePrivateFile(getLastUpPath(place), Object.values(begun).join(" "));
    else rmSync(getLastUpPath(place), { force: true });
  } catch (error) {
    // A missing record is no error: the repair only keeps more objects.
    if (!isSystemError(error)) throw error;
  }
}

/** Functions that record the end of an `up`. */
export interface UpRecording {
  /** Records that the run has ended now. */
  readonly end: () => void;
  /**
   * Restores the previous record. Called after a run that changed nothing, because the previous
   * record then still describes the state.
   */
  readonly undo: () => void;
}

/** Records that an `up` begins. Returns the functions that record its end. */
export function recordUpBegin(place: Place, from: number = Date.now()): UpRecording {
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
