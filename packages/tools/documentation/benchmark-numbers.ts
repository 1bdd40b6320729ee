import type { BenchRecord } from "../../bench/support/records.js";
import { getLeast } from "../../bench/support/statistics.js";
import { table } from "./markdown.js";

/** Number of the page of performance: seconds of stackadm, and of the tool next to it. */
export interface BenchmarkNumber {
  readonly what: string;
  readonly record: BenchRecord;
  readonly other: { readonly name: string; readonly seconds: number };
  readonly seconds: number;
}

/** Benchmark and options of a record. Records with other options are ignored. */
type RecordSelector = Pick<BenchRecord, "bench" | "options">;

/** Record of bare calls. `more`: the deleted cluster has one more worker than the created one. */
const bareCalls: RecordSelector = {
  bench: "oracle",
  options: { controlPlanes: 1, workers: 2, more: 1 },
};

const terraform: RecordSelector = {
  bench: "terraform",
  options: { controlPlanes: 1, workers: 2, latency: 0, serverLatency: 0, stages: 0 },
};

/** The five numbers: text, record and name of the figure in the record. */
const selectedNumbers: readonly (readonly [string, RecordSelector, string])[] = [
  ["`up` of 1 + 2", bareCalls, "up"],
  ["one more worker", bareCalls, "one more worker"],
  ["`destroy` of 1 + 3", bareCalls, "destroy"],
  ["`up` of 1 + 2", terraform, "up"],
  ["`up` with nothing to do", terraform, "nothing to do"],
];

function findRecord(
  records: readonly BenchRecord[],
  { bench, options }: RecordSelector,
): BenchRecord {
  const wanted = JSON.stringify(options);
  const found = records.findLast(
    (one) => one.bench === bench && JSON.stringify(one.options) === wanted,
  );
  if (!found) throw new Error(`No record of the benchmark '${bench}' has the options ${wanted}.`);
  return found;
}

/** Returns the last record of the comparison with bare calls, from which the chart is drawn. */
export const findBareCallsRecord = (records: readonly BenchRecord[]): BenchRecord =>
  findRecord(records, bareCalls);

/** Returns the five numbers from the last records. Each is the least of the runs of its record. */
export const selectNumbers = (records: readonly BenchRecord[]): readonly BenchmarkNumber[] =>
  selectedNumbers.map(([what, selector, figure]) => {
    const record = findRecord(records, selector);
    const [other, ours] = record.columns.map(({ name, runs }) => ({
      name,
      seconds: getLeast(runs.flatMap((run) => run[figure] ?? [])),
    }));
    if (!other?.seconds || !ours?.seconds)
      throw new Error(`The last record of '${selector.bench}' lacks '${figure}' of a tool.`);
    return { what, record, other, seconds: ours.seconds };
  });

/** Returns the commit of a record. `git describe` adds `-dirty` if the tree had other changes. */
const commitOf = ({ commit }: BenchRecord): string => commit.replace(/-dirty$/, " with changes");

/** Returns the table of the numbers: ratio, seconds, date and commit. */
export const numbersTable = (records: readonly BenchRecord[]): readonly string[] =>
  table(
    ["what", "compared with", "ratio", "seconds", "date, commit"],
    selectNumbers(records).map(({ what, record, other, seconds }) => [
      what,
      other.name,
      `**${(seconds / other.seconds).toFixed(2)}**`,
      `${seconds} to ${other.seconds}`,
      `${record.at.slice(0, 10)}, ${commitOf(record)}`,
    ]),
  );
