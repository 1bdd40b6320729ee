import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { availableParallelism, totalmem } from "node:os";
import { join } from "node:path";
import { table } from "../../automation/render/table.js";
import { run } from "../../base/run.js";
import { least, rowsOf, type Figures } from "./statistics.js";

/** The figures of each run of one thing that was measured. */
export interface Column {
  readonly name: string;
  readonly runs: readonly Figures[];
}

/** What one command measured: columns that were measured in turn. Ratios are to the first. */
export interface Measurement {
  readonly bench: string;
  /** What of it decides whether two can be compared. */
  readonly options: Readonly<Record<string, string | number>>;
  readonly columns: readonly Column[];
}

/** A measurement that is kept, and where and when it was made. */
export interface BenchRecord extends Measurement {
  readonly at: string;
  readonly commit: string;
  readonly processors: number;
  readonly gibibytes: number;
}

export const recordsFile = join(__dirname, "..", "records.jsonl");

/** All of them, the oldest first. */
export function readRecords(file = recordsFile): readonly BenchRecord[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n").filter(Boolean);
  return lines.map((line) => JSON.parse(line) as BenchRecord);
}

const comparable = (one: Measurement, other: Measurement): boolean =>
  one.bench === other.bench && JSON.stringify(one.options) === JSON.stringify(other.options);

async function record(measurement: Measurement): Promise<BenchRecord> {
  const { stdout } = await run("git", ["describe", "--always", "--dirty"], { cwd: __dirname });
  return {
    ...{ at: new Date().toISOString(), commit: stdout.trim(), ...measurement },
    processors: availableParallelism(),
    gibibytes: Math.round(totalmem() / 2 ** 30),
  };
}

/** Least and median of every figure, and each column's ratio to the first. */
export function figuresTable({ bench, columns }: Measurement): string {
  const heads = columns.flatMap(({ name }, index) => [name, ...(index === 0 ? [] : ["RATIO"])]);
  const rows = rowsOf(columns.map(({ runs }) => runs));
  return table([`${bench}: LEAST / MEDIAN`, ...heads], rows);
}

/** The least of every figure beside that of a record. Of columns that the record has not, nothing. */
export function comparison(now: Measurement, before: BenchRecord): string {
  const rows = now.columns.flatMap(({ name, runs }) => {
    const former = before.columns.find((one) => one.name === name)?.runs ?? [];
    const figures = new Set(runs.flatMap(Object.keys));
    return [...figures].flatMap((figure) => {
      const of = (some: readonly Figures[]) => some.flatMap((one) => one[figure] ?? []);
      const [was, is] = [least(of(former)), least(of(runs))];
      return was === 0
        ? []
        : [[`${name}: ${figure}`, String(was), String(is), (is / was).toFixed(2)]];
    });
  });
  return table([`Since ${before.at.slice(0, 10)}, ${before.commit}`, "THEN", "NOW", "RATIO"], rows);
}

/** Prints it beside the last comparable record, then as a line of JSON; keeps it where that is asked for. */
export async function report(measurement: Measurement, keep: boolean): Promise<void> {
  const before = readRecords().findLast((one) => comparable(one, measurement));
  const made = await record(measurement);
  const parts = [figuresTable(made), ...(before ? [comparison(made, before)] : [])];
  process.stdout.write(`${parts.join("\n\n")}\n\n${JSON.stringify(made)}\n`);
  if (keep) appendFileSync(recordsFile, `${JSON.stringify(made)}\n`);
}
