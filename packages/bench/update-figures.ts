/*
 * Draws the last record of packages/bench/lower-bound.ts into packages/bench/phases.svg, and writes the
 * figures of the last records into packages/bench/figures.md.
 *
 *   npx tsx packages/bench/update-figures.ts
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { drawPhases } from "./support/drawing.js";
import { renderFiguresTable, readRecords, type BenchRecord } from "./support/records.js";

const place = (name: string): string => join(__dirname, name);

/** Returns the last record for each benchmark and its options. */
const latest = (records: readonly BenchRecord[]): readonly BenchRecord[] => [
  ...new Map(records.map((one) => [`${one.bench} ${JSON.stringify(one.options)}`, one])).values(),
];

function section(record: BenchRecord): string {
  const { at, commit, processors, gibibytes, options } = record;
  const chosen = Object.entries(options).map(([name, value]) => `, ${name}: ${value}`);
  const head = `${at.slice(0, 10)}, ${commit}, ${processors} processors, ${gibibytes} GiB${chosen.join("")}`;
  return `${head}\n\n\`\`\`\n${renderFiguresTable(record)}\n\`\`\``;
}

function main(): void {
  const records = latest(readRecords());
  const drawn = records.findLast(({ bench }) => bench === "oracle");
  if (drawn) writeFileSync(place("phases.svg"), drawPhases(drawn));
  const parts = [
    ...(drawn ? ["![What is reached when](phases.svg)"] : []),
    ...records.map(section),
    ...(records.length === 0 ? ["None is recorded yet."] : []),
  ];
  const file = place("figures.md");
  const marked = /(<!-- figures -->\n)[\s\S]*(\n<!-- end of figures -->)/;
  const written = readFileSync(file, "utf8");
  writeFileSync(
    file,
    written.replace(
      marked,
      (_, from: string, to: string) => `${from}\n${parts.join("\n\n")}\n${to}`,
    ),
  );
}

main();
