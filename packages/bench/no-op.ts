/*
 * Measures where an `up` with nothing to do spends its time. Runs the installed command line and
 * the real engine with its plugins, against a fake cloud and a fake cluster that answer at once.
 * This file is not a test. It fails only if the `up` changes something.
 *
 *   npx tsx packages/bench/no-op.ts [--runs 3] [--record] [checkout ...]
 *
 * Runs of several checkouts alternate, so that all are measured within the same minutes. Ratios are
 * relative to the first checkout. Prints one line of JSON for each command. `--record` appends
 * these lines to packages/bench/records.jsonl.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { startBenchFakeCluster, type BenchFakeCluster } from "./support/fake-cluster.js";
import { Installation } from "./support/installation.js";
import { getRunFigures } from "./support/phases.js";
import { report } from "./support/records.js";
import type { Figures } from "./support/statistics.js";
import { requestedVersions } from "./support/tool-versions.js";

const commands = ["up", "preview"] as const;

async function once(
  place: Installation,
  command: string,
  { cloud }: BenchFakeCluster,
): Promise<Figures> {
  const before = cloud.seen.length;
  const ran = await place.stackadm(command);
  if (command === "preview" && !ran.output.includes("No changes."))
    throw new Error(`The cluster is not as it is to be:\n${ran.output}`);
  return getRunFigures(ran, cloud.seen.length - before);
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: {
      runs: { type: "string", default: "3" },
      record: { type: "boolean", default: false },
    },
    allowPositionals: true,
  });
  const checkouts = positionals.length > 0 ? positionals : [join(__dirname, "../..")];
  const scratch = mkdtempSync(join(tmpdir(), "stackadm-bench-"));
  const living = await startBenchFakeCluster(scratch);
  const places: Installation[] = [];
  try {
    for (const checkout of checkouts) places.push(await Installation.of(resolve(checkout), living));
    const measured = commands.flatMap((command) =>
      places.map((place) => ({ place, command, figures: [] as Figures[] })),
    );
    for (let turn = 0; turn < Number(values.runs); turn += 1)
      for (const { place, command, figures } of measured)
        figures.push(await once(place, command, living));
    for (const command of commands) {
      const mine = measured.filter((one) => one.command === command);
      const columns = mine.map(({ place, figures }) => ({
        name: basename(place.checkout),
        runs: figures,
      }));
      await report(
        { bench: `no-op ${command}`, options: {}, versions: requestedVersions, columns },
        values.record,
      );
    }
  } finally {
    for (const place of places) place.remove();
    await living.close();
    rmSync(scratch, { recursive: true });
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`${String(error)}\n`);
  process.exitCode = 1;
});
