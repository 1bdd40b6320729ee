import { writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { renderCast } from "./cast.js";
import { getRecordingFile, recordedTerminal } from "./recordings.js";
import { hideHome, recordTerminal } from "./record-terminal.js";

/*
 * Records `stackadm up` in a terminal, with the arguments of this command:
 *
 *   npx tsx packages/tools/documentation/recording/record-up.ts --stack prod
 *
 * Writes docs/pictures/up.cast. `npm run docs` then draws docs/pictures/up.svg.
 */

const size = { columns: 100, rows: 30 };

async function main(args: readonly string[]): Promise<void> {
  const cast = await recordTerminal(["stackadm", "up", ...args], size, process.env);
  writeFileSync(getRecordingFile(recordedTerminal), renderCast(hideHome(cast, homedir())));
}

main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
