import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { OperationEvent } from "../../../../automation/engine/operation-events.js";
import { getPackageRoot } from "../../../../base/paths.js";
import { parseEvents } from "../pictures/up-run.js";
import { parseCast, type Cast } from "./cast.js";

/** Recording of a real `up`, which is in the repository. */
interface Recording {
  /** Path in the repository. */
  readonly path: string;
  /** Command that records the file. */
  readonly command: string;
}

const folder = "packages/tools/documentation";

/** Recording of the events with times. */
export const recordedEvents: Recording = {
  path: `${folder}/pictures/up-events.jsonl`,
  command: `stackadm up --json | npx tsx ${folder}/recording/record-events.ts`,
};

/** Recording of the terminal. */
export const recordedTerminal: Recording = {
  path: "docs/pictures/up.cast",
  command: `npx tsx ${folder}/recording/record-up.ts`,
};

/** Returns the absolute path of a recording. */
export const getRecordingFile = ({ path }: Recording): string => join(getPackageRoot(), path);

/** Returns the text of a recording. Throws an error with the command that records it. */
export function readRecording(recording: Recording): string {
  try {
    return readFileSync(getRecordingFile(recording), "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    const { path, command } = recording;
    throw new Error(`${path} is missing; record it with \`${command}\``, { cause: error });
  }
}

export const readEvents = (): readonly OperationEvent[] =>
  parseEvents(readRecording(recordedEvents));

export const readCast = (): Cast => parseCast(readRecording(recordedTerminal));
