/*
 * Measures how much one machine that boots late delays the other machines. Runs an `up` in which a
 * worker's boot takes 60 s longer and, alternately, the same `up` without the delay. This file is
 * not a test. It needs the lab, and nothing else may run on the lab.
 *
 *   npx tsx packages/bench/straggler.ts [--runs 3] [--later 60] [--record]
 *
 * Ratios are relative to the cluster without a late machine. The last line is JSON. `--record`
 * appends this line to packages/bench/records.jsonl.
 */
import { parseArgs } from "node:util";
import { takeInventory } from "../../openstack/inventory/inventory.js";
import { labCluster, type LabCluster } from "../../test/lab/support/stack/lab-cluster.js";
import { deleteAddedObjects } from "./support/bare/destroy.js";
import { getBenchCluster, benchClusterName } from "./support/bench-cluster.js";
import { readNodeReadyTimes } from "./support/moments.js";
import { runStackadm } from "./support/run-stackadm.js";
import { getToolchainVersions } from "./support/tool-versions.js";
import { report } from "./support/records.js";
import type { Figures } from "./support/statistics.js";

const pool = "late";

/**
 * Cluster with one control plane and two workers. `workersWith` adds a third worker in a separate
 * pool.
 */
const described = getBenchCluster(1, 2);

/** Returns the workers for the stack file. The additional worker boots `later` seconds later. */
function workersWith(later: number) {
  const sleep = { cloudInit: [`#cloud-boothook\n#!/bin/sh\nsleep ${later}\n`] };
  const late = { flavor: "k8s-worker", count: 1, ...(later > 0 && sleep) };
  return { ...described.workers, [pool]: late };
}

async function once(cluster: LabCluster, later: number): Promise<Figures> {
  const changes = { workers: workersWith(later) };
  const beganAt = Date.now();
  await runStackadm(cluster, ["up"], {}, changes);
  const up = Math.round((Date.now() - beganAt) / 100) / 10;
  const nodes = await readNodeReadyTimes(
    await cluster.service.kubeconfig(benchClusterName),
    beganAt,
  );
  await runStackadm(cluster, ["destroy", "--yes"], {}, changes);
  const isLate = (name: string): boolean => name === `${benchClusterName}-${pool}-0`;
  const of = (late: boolean): number =>
    Math.max(...Object.entries(nodes).flatMap(([name, at]) => (isLate(name) === late ? at : [])));
  return { "others Ready": of(false), "the last one Ready": of(true), up };
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      runs: { type: "string", default: "3" },
      later: { type: "string", default: "60" },
      record: { type: "boolean", default: false },
    },
  });
  const later = Number(values.later);
  const cluster = await labCluster(benchClusterName, { ...described, workers: workersWith(0) });
  const initially = await takeInventory(cluster.cloud);
  try {
    // Compiles the sources if needed, so that the first measured run does not compile them.
    await runStackadm(cluster, ["env"]);
    const columns = [
      { name: "all alike", later: 0, runs: [] as Figures[] },
      { name: `one ${later} s later`, later, runs: [] as Figures[] },
    ];
    for (let turn = 0; turn < Number(values.runs); turn += 1)
      for (const column of columns) column.runs.push(await once(cluster, column.later));
    const figures = columns.map(({ name, runs: made }) => ({ name, runs: made }));
    const versions = getToolchainVersions(cluster.environment);
    await report(
      { bench: "straggler", options: { later }, versions, columns: figures },
      values.record,
    );
  } finally {
    // Deletes what a failed run left behind.
    await deleteAddedObjects(cluster.cloud, initially);
    await cluster.close();
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`${String(error)}\n`);
  process.exitCode = 1;
});
