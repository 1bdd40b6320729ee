import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { availableParallelism, totalmem } from "node:os";
import { join } from "node:path";
import { formatTable } from "../../../base/terminal/table.js";
import { run } from "../../../base/run-command.js";
import { getLeast, renderFigureRows, type Figures } from "./statistics.js";
import type { ToolVersions } from "./tool-versions.js";

/** Figures of each run of one measured variant. */
export interface BenchColumn {
  readonly name: string;
  readonly runs: readonly Figures[];
}

/**
 * Figures of one run of a benchmark. The runs of the columns alternated. Ratios are relative to the
 * first column.
 */
export interface BenchComparison {
  readonly bench: string;
  /** Options of the benchmark. Two measurements are compared only if their options are equal. */
  readonly options: Readonly<Record<string, string | number>>;
  /** Versions of the programs that were measured. */
  readonly versions: ToolVersions;
  readonly columns: readonly BenchColumn[];
}

/** Measurement with its time, commit and machine, as in records.jsonl. */
export interface BenchRecord extends BenchComparison {
  readonly at: string;
  readonly commit: string;
  readonly processors: number;
  readonly gibibytes: number;
  /** Sentences about the conditions of the run, which explain the figures. Added by hand. */
  readonly note?: string;
}

export const recordsFile = join(__dirname, "..", "records.jsonl");

/** Returns all records, the oldest first. */
export function readRecords(file = recordsFile): readonly BenchRecord[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n").filter(Boolean);
  return lines.map((line) => JSON.parse(line) as BenchRecord);
}

/** Returns the last record for each benchmark and its options. */
export const getLatestRecords = (records: readonly BenchRecord[]): readonly BenchRecord[] => [
  ...new Map(records.map((one) => [`${one.bench} ${JSON.stringify(one.options)}`, one])).values(),
];

const comparable = (one: BenchComparison, other: BenchComparison): boolean =>
  one.bench === other.bench && JSON.stringify(one.options) === JSON.stringify(other.options);

async function record(measurement: BenchComparison): Promise<BenchRecord> {
  const { stdout } = await run("git", ["describe", "--always", "--dirty"], { cwd: __dirname });
  return {
    at: new Date().toISOString(),
    commit: stdout.trim(),
    ...measurement,
    processors: availableParallelism(),
    gibibytes: Math.round(totalmem() / 2 ** 30),
  };
}

/**
 * Returns a table with the minimum and the median of every figure, and each column's ratio to the
 * first column.
 */
export function renderFiguresTable({ bench, columns }: BenchComparison): string {
  const heads = columns.flatMap(({ name }, index) => [name, ...(index === 0 ? [] : ["RATIO"])]);
  const rows = renderFigureRows(columns.map(({ runs }) => runs));
  return formatTable([`${bench}: LEAST / MEDIAN`, ...heads], rows);
}

const renderPairs = (pairs: Readonly<Record<string, string | number>>): readonly string[] =>
  Object.entries(pairs).map(([name, value]) => `${name} ${value}`);

/** Returns a record as text: date, commit, machine, options, versions, note and figures. */
export function renderRecord(record: BenchRecord): string {
  const { at, commit, processors, gibibytes, options, versions, note } = record;
  const head = [at.slice(0, 10), commit, `${processors} processors`, `${gibibytes} GiB`];
  const lines = [
    [...head, ...renderPairs(options)].join(", "),
    renderPairs(versions).join(", "),
    note ?? "",
    renderFiguresTable(record),
  ];
  return lines.filter((line) => line !== "").join("\n");
}

/**
 * Returns a table that compares the minimum of every figure with the minimum in a record. Leaves
 * out columns that the record does not contain.
 */
export function renderComparison(now: BenchComparison, before: BenchRecord): string {
  const rows = now.columns.flatMap(({ name, runs }) => {
    const former = before.columns.find((one) => one.name === name)?.runs ?? [];
    const figures = new Set(runs.flatMap(Object.keys));
    return [...figures].flatMap((figure) => {
      const of = (some: readonly Figures[]) => some.flatMap((one) => one[figure] ?? []);
      const [was, is] = [getLeast(of(former)), getLeast(of(runs))];
      return was === 0
        ? []
        : [[`${name}: ${figure}`, String(was), String(is), (is / was).toFixed(2)]];
    });
  });
  return formatTable(
    [`Since ${before.at.slice(0, 10)}, ${before.commit}`, "THEN", "NOW", "RATIO"],
    rows,
  );
}

/**
 * Prints the measurement, its comparison with the last comparable record, and a line of JSON.
 * Appends the measurement to the records if `keep` is set.
 */
export async function report(measurement: BenchComparison, keep: boolean): Promise<void> {
  const before = readRecords().findLast((one) => comparable(one, measurement));
  const made = await record(measurement);
  const parts = [renderFiguresTable(made), ...(before ? [renderComparison(made, before)] : [])];
  process.stdout.write(`${parts.join("\n\n")}\n\n${JSON.stringify(made)}\n`);
  if (keep) appendFileSync(recordsFile, `${JSON.stringify(made)}\n`);
}
