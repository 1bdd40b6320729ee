/*
 * Counts the work of creating a cluster on the lab, and the work of an `up` with nothing to do.
 * Counts the cloud API calls by kind, the SSH connections and scripts on each machine, and the CPU
 * time of command line, engine, program and plugins. The counts hardly differ between runs. This
 * file is not a test. It needs the lab, and nothing else may run on the lab.
 *
 *   npx tsx packages/bench/counts.ts [--workers 2] [--record]
 *
 * Prints one line of JSON for the `up`, one for the `up` with nothing to do, and one for the
 * `destroy`. `--record` appends these lines to packages/bench/records.jsonl.
 */
import { parseArgs } from "node:util";
import { parseOutputs } from "../../automation/verify/cluster-outputs.js";
import { takeInventory } from "../../openstack/inventory/inventory.js";
import { behindProxy } from "../../test/lab/support/faults/behind-proxy.js";
import type { FaultyProxy } from "../../test/lab/support/faults/faulty-proxy.js";
import { labCluster, type LabCluster } from "../../test/lab/support/stack/lab-cluster.js";
import { scriptRuns, sshLogins } from "../../test/lab/support/machines/machines.js";
import { deleteAddedObjects } from "./support/bare/destroy.js";
import { countCalls } from "./support/calls.js";
import { getBenchCluster, benchClusterName } from "./support/bench-cluster.js";
import { runStackadm } from "./support/run-stackadm.js";
import { getToolchainVersions } from "./support/tool-versions.js";
import { getRunFigures } from "./support/phases.js";
import { watchProcesses } from "./support/process-watch.js";
import { report } from "./support/records.js";
import { createCountedCloudEnvironment } from "./support/counted-cloud.js";
import type { Figures } from "./support/statistics.js";

interface Place {
  readonly cluster: LabCluster;
  readonly proxy: FaultyProxy;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Returns the number of SSH connections and the number of scripts on each machine until now.
 * Returns an empty object if there is no cluster.
 */
async function onMachines({ service }: LabCluster): Promise<Figures> {
  const outputs = await service.outputs(benchClusterName).catch(() => undefined);
  if (outputs === undefined) return {};
  const counted = parseOutputs(outputs).nodes.map(async ({ name, serverId }) => [
    [`SSH connections to ${name}`, await sshLogins(serverId)] as const,
    [`scripts on ${name}`, await scriptRuns(serverId)] as const,
  ]);
  return Object.fromEntries((await Promise.all(counted)).flat());
}

const since = (now: Figures, before: Figures): Figures =>
  Object.fromEntries(
    Object.entries(now).map(([name, count]) => [name, count - (before[name] ?? 0)]),
  );

/** Runs a command and counts its calls, connections, scripts and CPU time. */
async function count({ cluster, proxy, env }: Place, args: readonly string[]): Promise<Figures> {
  const [callsBefore, machinesBefore] = [proxy.seen.length, await onMachines(cluster)];
  const mark = Date.now().toString();
  const began = performance.now();
  const ended = runStackadm(cluster, args, { ...env, STACKADM_BENCH: mark });
  const processes = await watchProcesses(`STACKADM_BENCH=${mark}`, ended);
  await ended;
  const wall = Math.round(performance.now() - began);
  const calls = proxy.seen.slice(callsBefore);
  const times = Object.entries(getRunFigures({ wall, output: "", processes }, calls.length));
  const cpu = times.filter(([name]) => name.startsWith("CPU "));
  return {
    ...countCalls(calls),
    ...(args[0] === "up" ? since(await onMachines(cluster), machinesBefore) : {}),
    ...Object.fromEntries(cpu.map(([name, value]) => [`${name}, ms`, value])),
  };
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      workers: { type: "string", default: "2" },
      record: { type: "boolean", default: false },
    },
  });
  const workers = Number(values.workers);
  const cluster = await labCluster(benchClusterName, getBenchCluster(1, workers));
  const initially = await takeInventory(cluster.cloud);
  const { proxy, ...behind } = await behindProxy(cluster);
  const env = createCountedCloudEnvironment(behind.env);
  try {
    const commands = { up: ["up"], "up with nothing to do": ["up"], destroy: ["destroy", "--yes"] };
    for (const [bench, args] of Object.entries(commands)) {
      const runs = [await count({ cluster, proxy, env }, args)];
      await report(
        {
          bench: `counts of ${bench}`,
          options: { workers },
          versions: getToolchainVersions(cluster.environment),
          columns: [{ name: "stackadm", runs }],
        },
        values.record,
      );
    }
  } finally {
    // Deletes what a failed command left behind.
    await deleteAddedObjects(cluster.cloud, initially);
    await proxy.close();
    await cluster.close();
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`${String(error)}\n`);
  process.exitCode = 1;
});
