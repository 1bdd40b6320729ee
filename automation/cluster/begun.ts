import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { writePrivate } from "../../base/files.js";
import type { Workspace } from "./workspace.js";

/*
 * The engine records a run when that comes to its end, so of one that was killed nobody can say when it began but who started it. It is
 * noted in the stack's private directory, and there its end, too: a backend that is brought back from a copy knows nothing of that. Who
 * does not find it there knows less, and leaves more.
 */

type Place = Pick<Workspace, "directory">;

/** The last `up` of ours that may have changed anything. In milliseconds since 1970. */
export interface Begun {
  readonly from: number;
  /** When it came to its end, well or not, and left nothing in the making. Absent: it was killed, or is at work. */
  readonly to?: number;
}

export const begunPath = ({ directory }: Place): string => join(directory, "begun");

/** What is noted of it; undefined where nobody noted it. */
export function begunAt(place: Place): Begun | undefined {
  try {
    const [from = NaN, to = NaN] = readFileSync(begunPath(place), "utf8").split(" ").map(Number);
    return from > 0 ? { from, ...(to >= from && { to }) } : undefined;
  } catch {
    return undefined;
  }
}

function note(place: Place, begun: Begun | undefined): void {
  try {
    if (begun) writePrivate(begunPath(place), Object.values(begun).join(" "));
    else rmSync(begunPath(place), { force: true });
  } catch {
    // As where nobody noted it.
  }
}

/** An `up` that is noted, for whoever sees how it ends. */
export interface Noted {
  /** It came to its end. */
  readonly end: () => void;
  /** It did nothing, and says nothing of the state: what was noted before it counts. */
  readonly undo: () => void;
}

/** Notes that an `up` of ours begins. */
export function noteBegin(place: Place, from: number = Date.now()): Noted {
  const before = begunAt(place);
  note(place, { from });
  return {
    end: () => {
      note(place, { from, to: Date.now() });
    },
    undo: () => {
      note(place, before);
    },
  };
}
