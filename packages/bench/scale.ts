/*
 * Measures how the time of an `up` grows with the number of machines. Runs the installed command
 * line and the real engine with its plugins, against a fake cloud, fake machines and a fake cluster
 * (support/scale/). Runs an `up`, an `up` with nothing to do, an `up` with one more worker, and one
 * `preview` of 3 + 100 machines without a state. This file is not a test.
 *
 *   npx tsx packages/bench/scale.ts [--counts 50,100,200,500] [--control-planes 3] [--record]
 *
 * Ratios are relative to the first count. For a figure per machine, a ratio of 1 means linear
 * growth. Prints one line of JSON for each benchmark. `--record` appends these lines to
 * packages/bench/records.jsonl.
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Installation, type CommandRun } from "./support/installation.js";
import { report } from "./support/records.js";
import { getScaleCluster } from "./support/scale/cluster.js";
import { getScaleFigures } from "./support/scale/figures.js";
import { FakesProcess } from "./support/scale/fakes-process.js";
import type { Figures } from "./support/statistics.js";
import { requestedVersions } from "./support/tool-versions.js";

/** Number of workers in the preview without a state. */
const previewed = 100;
/**
 * Interval between two reads of the process list, in milliseconds. The interval is longer than the
 * default, because there are many processes and they run long.
 */
const interval = 200;

const say = (line: string): void => {
  process.stderr.write(`${new Date().toISOString()} ${line}\n`);
};

interface Measured {
  readonly workers: number;
  readonly run: (command: string) => Promise<Figures>;
  /** Changes the number of workers in the stack's settings. */
  readonly setWorkers: (count: number) => void;
  readonly stateSize: () => number;
}

/**
 * Calls `work` with an installation that has no cluster yet, and with a separate process of fakes.
 */
async function within<T>(
  controlPlanes: number,
  workers: number,
  work: (measured: Measured) => Promise<T>,
): Promise<T> {
  const site = await FakesProcess.start();
  const cloud = { environment: () => site.environment, authUrl: site.authUrl };
  const args = getScaleCluster(controlPlanes, workers);
  const place = await Installation.empty(join(__dirname, "../.."), { cloud, args }, interval);
  const run = async (command: string): Promise<Figures> => {
    const before = await site.usage();
    const ran: CommandRun = await place.stackadm(command);
    const after = await site.usage();
    const figures = {
      ...getScaleFigures(ran, controlPlanes + workers),
      "calls to the cloud": after.calls - before.calls,
      "changes among them": after.changes - before.changes,
      "scripts on machines": after.scripts - before.scripts,
      "CPU of what is fake, s": (after.cpu - before.cpu) / 1000,
    };
    say(`${command} of ${String(controlPlanes)} + ${String(workers)}: ${JSON.stringify(figures)}`);
    return figures;
  };
  try {
    const setWorkers = (count: number): void => {
      place.configure(getScaleCluster(controlPlanes, count));
    };
    return await work({ workers, run, setWorkers, stateSize: () => place.stateSize() });
  } finally {
    place.remove();
    await site.stop();
  }
}

async function measure(
  controlPlanes: number,
  counts: readonly number[],
  keep: boolean,
): Promise<void> {
  const [ups, idle, more] = [[], [], []] as { name: string; runs: Figures[] }[][];
  for (const workers of counts)
    await within(controlPlanes, workers, async ({ run, setWorkers, stateSize }) => {
      const up = await run("up");
      const state = { "state a machine, kB": stateSize() / 1000 / (controlPlanes + workers) };
      ups?.push({ name: String(workers), runs: [{ ...up, ...state }] });
      const again = await run("up");
      if (again["changes among them"] !== 0 || again["scripts on machines"] !== 0)
        throw new Error("The second up had something to do.");
      idle?.push({ name: String(workers), runs: [again] });
      setWorkers(workers + 1);
      more?.push({ name: String(workers), runs: [await run("up")] });
    });
  const preview = await within(controlPlanes, previewed, ({ run }) => run("preview"));
  const all = {
    "scale up": ups ?? [],
    "scale nothing to do": idle ?? [],
    "scale one more worker": more ?? [],
    "scale preview from nothing": [{ name: String(previewed), runs: [preview] }],
  };
  for (const [bench, columns] of Object.entries(all))
    await report({ bench, options: { controlPlanes }, versions: requestedVersions, columns }, keep);
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      counts: { type: "string", default: "50,100,200,500" },
      "control-planes": { type: "string", default: "3" },
      record: { type: "boolean", default: false },
    },
  });
  const counts = values.counts.split(",").map(Number);
  await measure(Number(values["control-planes"]), counts, values.record);
}

main().catch((error: unknown) => {
  process.stderr.write(`${String(error)}\n`);
  process.exitCode = 1;
});
