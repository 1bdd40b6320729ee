import { writeFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { parseEvents, readUpRun, selectTimes } from "../pictures/up-run.js";
import { getRecordingFile, recordedEvents } from "./recordings.js";

/*
 * Records the events of an `up` for the picture of its timeline:
 *
 *   stackadm up --json | npx tsx packages/tools/documentation/recording/record-events.ts
 *
 * Keeps only the events and fields with times, so that the file contains no address and no path.
 */

async function main(): Promise<void> {
  const kept = selectTimes(parseEvents(await text(process.stdin)));
  readUpRun(kept);
  writeFileSync(
    getRecordingFile(recordedEvents),
    kept.map((event) => `${JSON.stringify(event)}\n`).join(""),
  );
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
