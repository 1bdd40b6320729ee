/*
 * Prints all figures of the last record of each benchmark in packages/bench/records.jsonl.
 *
 *   npx tsx packages/bench/print-records.ts
 */
import { getLatestRecords, readRecords, renderRecord } from "./support/records.js";

const texts = getLatestRecords(readRecords()).map(renderRecord);
process.stdout.write(`${texts.join("\n\n")}\n`);
