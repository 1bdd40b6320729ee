/*
 * Measures how the program's time and memory grow with the number of machines: three control
 * planes, hundreds of workers, no engine and no cloud. A fake engine answers each resource
 * registration at once, so only the program itself is measured. Its time and memory should grow
 * linearly.
 *
 *   npx tsx packages/bench/growth.ts [--workers 50,100,200,400] [--runs 3] [--record]
 *
 * Each run has a separate process, so that the memory of the run can be measured. Ratios are
 * relative to the first column.
 */
import { execFileSync } from "node:child_process";
import { parseArgs } from "node:util";
import { clusterRows } from "../../test/support/graph/cluster-rows.js";
import { smallest } from "../../test/support/config/spec.js";
import { report } from "./support/records.js";
import type { Figures } from "./support/statistics.js";
import { requestedVersions } from "./support/tool-versions.js";

const controlPlanes = 3;

/**
 * Runs the program for a cluster with this number of workers. Returns the number of resources, the
 * CPU time and the memory, each per machine.
 */
async function measure(workers: number): Promise<Figures> {
  const { usage, machines } = { usage: process.cpuUsage(), machines: controlPlanes + workers };
  const rows = await clusterRows({
    ...smallest,
    network: { nodes: "10.0.0.0/16", pods: "10.128.0.0/10" },
    controlPlane: { ...smallest.controlPlane, count: controlPlanes },
    endpoint: { kind: "load-balancer" },
    workers: { general: { ...smallest.workers.general, count: workers } },
  });
  const { user, system } = process.cpuUsage(usage);
  return {
    "resources a machine": rows.length / machines,
    "CPU a machine, ms": (user + system) / 1000 / machines,
    "memory a machine, kB": process.resourceUsage().maxRSS / machines,
  };
}

const inProcess = (workers: string): Figures => {
  const args = ["--import", "tsx", __filename, "--one", workers];
  const said = execFileSync(process.execPath, args, {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  return JSON.parse(said.trim().split("\n").at(-1) ?? "") as Figures;
};

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      workers: { type: "string", default: "50,100,200,400" },
      runs: { type: "string", default: "3" },
      record: { type: "boolean", default: false },
      one: { type: "string" },
    },
  });
  if (values.one !== undefined) {
    process.stdout.write(`${JSON.stringify(await measure(Number(values.one)))}\n`);
    return;
  }
  const columns = values.workers.split(",").map((name) => ({ name, runs: [] as Figures[] }));
  for (let turn = 0; turn < Number(values.runs); turn += 1)
    for (const { name, runs } of columns) runs.push(inProcess(name));
  await report(
    { bench: "growth", options: { controlPlanes }, versions: requestedVersions, columns },
    values.record,
  );
}

main().catch((error: unknown) => {
  process.stderr.write(`${String(error)}\n`);
  process.exitCode = 1;
});
