/*
 * Where the time of an `up` goes that has nothing to do: the installed command line, the real engine with its plugins, a cloud
 * and a cluster that answer at once. Not a test: it fails only when something is changed.
 *
 *   npx tsx bench/no-op.ts [--runs 3] [checkout ...]
 *
 * Several checkouts are measured in turn, in the same minutes; ratios are to the first. The last line is JSON.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { table } from "../automation/render/table.js";
import { startLiving, type Living } from "./support/cluster.js";
import { Installation } from "./support/installation.js";
import { figuresOf, type Figures } from "./support/phases.js";

const commands = ["up", "preview"] as const;

const sorted = (values: readonly number[]): number[] => [...values].sort((one, two) => one - two);
const least = (values: readonly number[]): number => sorted(values)[0] ?? 0;
const median = (values: readonly number[]): number => {
  const half = (values.length - 1) / 2;
  const [low = 0, high = 0] = [Math.floor(half), Math.ceil(half)].map((at) => sorted(values)[at]);
  return Math.round((low + high) / 2);
};

interface Measured {
  readonly checkout: string;
  readonly command: string;
  readonly figures: readonly Figures[];
}

async function once(place: Installation, command: string, { cloud }: Living): Promise<Figures> {
  const before = cloud.seen.length;
  const ran = await place.stackadm(command);
  if (command === "preview" && !ran.output.includes("No changes."))
    throw new Error(`The cluster is not as it is to be:\n${ran.output}`);
  return figuresOf(ran, cloud.seen.length - before);
}

/** Every figure of a command, the least and the median for each checkout, and the ratio of the least ones to the first's. */
function rowsOf(measured: readonly Measured[]): string[][] {
  const names = [...new Set(measured.flatMap(({ figures }) => figures.flatMap(Object.keys)))];
  return names.map((name) => {
    const all = measured.map(({ figures }) => figures.map((one) => one[name] ?? 0));
    const first = least(all[0] ?? []);
    return [
      name,
      ...all.flatMap((values, index) => [
        `${least(values)} / ${median(values)}`,
        ...(index === 0 ? [] : [first === 0 ? "-" : (least(values) / first).toFixed(2)]),
      ]),
    ];
  });
}

function report(measured: readonly Measured[]): void {
  for (const command of commands) {
    const mine = measured.filter((one) => one.command === command);
    const heads = mine.flatMap(({ checkout }, index) => [
      checkout,
      ...(index === 0 ? [] : ["RATIO"]),
    ]);
    process.stdout.write(`${table([`${command}: LEAST / MEDIAN`, ...heads], rowsOf(mine))}\n\n`);
  }
  process.stdout.write(`${JSON.stringify({ bench: "no-op", measured })}\n`);
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: { runs: { type: "string", default: "3" } },
    allowPositionals: true,
  });
  const checkouts = positionals.length > 0 ? positionals : [join(__dirname, "..")];
  const scratch = mkdtempSync(join(tmpdir(), "stackadm-bench-"));
  const living = await startLiving(scratch);
  const places: Installation[] = [];
  try {
    for (const checkout of checkouts) places.push(await Installation.of(resolve(checkout), living));
    const measured = commands.flatMap((command) =>
      places.map((place) => ({ place, command, figures: [] as Figures[] })),
    );
    for (let turn = 0; turn < Number(values.runs); turn += 1)
      for (const { place, command, figures } of measured)
        figures.push(await once(place, command, living));
    report(measured.map(({ place, ...rest }) => ({ checkout: place.checkout, ...rest })));
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
