/*
 * Compares the times of `up`, of an `up` with one more worker and of `destroy` with a lower bound.
 * Runs the command line and the lower bound alternately on the lab. The lower bound builds the same
 * cluster by direct API calls in the best possible order (support/bare/), with the same scripts and
 * manifests. This file is not a test. It needs the lab, and nothing else may run on the lab.
 *
 *   npx tsx packages/bench/lower-bound.ts [--runs 3] [--control-planes 1] [--workers 2] [--record]
 *   npx tsx packages/bench/lower-bound.ts --dry-run     # only prints the bare calls
 *
 * Ratios are relative to the bare calls. The last line is JSON. `--record` appends this line to
 * packages/bench/records.jsonl.
 */
import { parseArgs } from "node:util";
import { requiredLookups } from "../../components/cloud-requirements.js";
import type { ClusterSpec } from "../../components/config/cluster-spec.js";
import { takeInventory, type CloudObject } from "../../openstack/inventory/inventory.js";
import { labCluster, type LabCluster } from "../../test/lab/support/stack/lab-cluster.js";
import { specOf } from "../../test/support/config/spec.js";
import { lookUpCloudFacts } from "./support/bare/cloud.js";
import { deleteAddedObjects } from "./support/bare/destroy.js";
import { DryRunCloud, createDryRunCreators } from "./support/bare/dry-run-cloud.js";
import {
  createClusterWithoutEngine,
  type ExistingResources,
} from "./support/bare/run-without-engine.js";
import { runBareUp } from "./support/bare/up.js";
import { getBenchCluster, benchClusterName } from "./support/bench-cluster.js";
import { readClusterMoments, getMoments, type ResourceWork } from "./support/moments.js";
import { runStackadm } from "./support/run-stackadm.js";
import { getToolchainVersions } from "./support/tool-versions.js";
import { report } from "./support/records.js";
import type { Figures } from "./support/statistics.js";

/**
 * Result of an `up`: the start and end of the work on each resource, and a function that reads the
 * kubeconfig.
 */
interface Made {
  readonly work: readonly ResourceWork[];
  readonly kubeconfig: () => Promise<string>;
}

/**
 * Tool that is measured: the command line, or the direct API calls of the lower bound ("bare
 * calls").
 */
interface MeasuredTool {
  readonly name: string;
  readonly up: () => Promise<Made>;
  /** Adds one worker to the cluster. */
  readonly more: () => Promise<unknown>;
  readonly destroy: () => Promise<unknown>;
}

/** Returns the specification with one more worker. */
function withMore(spec: ClusterSpec): ClusterSpec {
  const { general } = spec.workers;
  if (!general) throw new Error("The cluster that is measured has no workers.");
  return {
    ...spec,
    workers: { ...spec.workers, general: { ...general, count: general.count + 1 } },
  };
}

async function waysOf(
  cluster: LabCluster,
  initially: readonly CloudObject[],
  { controlPlanes, workers }: ReturnType<typeof read>,
): Promise<readonly MeasuredTool[]> {
  const { cloud, environment, service } = cluster;
  const spec = await service.spec(benchClusterName);
  const known: ExistingResources = new Map();
  const { workers: more } = getBenchCluster(controlPlanes, workers + 1);
  return [
    {
      name: "bare calls",
      up: async () => {
        known.clear();
        const { work, kubeconfig } = await runBareUp(spec, environment.env, known);
        return { work, kubeconfig: () => Promise.resolve(kubeconfig) };
      },
      more: () => runBareUp(withMore(spec), environment.env, known),
      destroy: () => deleteAddedObjects(cloud, initially),
    },
    {
      name: "stackadm",
      up: async () => ({
        work: await runStackadm(cluster, ["up"]),
        kubeconfig: () => service.kubeconfig(benchClusterName),
      }),
      more: () => runStackadm(cluster, ["up"], {}, { workers: more }),
      destroy: () => runStackadm(cluster, ["destroy", "--yes"]),
    },
  ];
}

const secondsSince = (beganAt: number): number => Math.round((Date.now() - beganAt) / 100) / 10;

async function once({ up, more, destroy }: MeasuredTool): Promise<Figures> {
  const beganAt = Date.now();
  const { work, kubeconfig } = await up();
  const whole = secondsSince(beganAt);
  const inside = await readClusterMoments(await kubeconfig(), beganAt);
  const moreAt = Date.now();
  await more();
  const added = secondsSince(moreAt);
  const endedAt = Date.now();
  await destroy();
  return {
    ...getMoments(work, beganAt),
    ...inside,
    up: whole,
    "one more worker": added,
    destroy: secondsSince(endedAt),
  };
}

async function measure(options: ReturnType<typeof read>): Promise<void> {
  const { runs, controlPlanes, workers } = options;
  const cluster = await labCluster(benchClusterName, getBenchCluster(controlPlanes, workers));
  const initially = await takeInventory(cluster.cloud);
  try {
    // Compiles the sources if needed, so that the first measured run does not compile them.
    await runStackadm(cluster, ["env"]);
    const ways = await waysOf(cluster, initially, options);
    const columns = ways.map((way) => ({ way, runs: [] as Figures[] }));
    for (let turn = 0; turn < runs; turn += 1)
      for (const column of columns) column.runs.push(await once(column.way));
    await report(
      {
        bench: "oracle",
        // `more` records that the measured `destroy` also deletes the additional worker.
        options: { controlPlanes, workers, more: 1 },
        versions: getToolchainVersions(cluster.environment),
        columns: columns.map(({ way, ...rest }) => ({ name: way.name, ...rest })),
      },
      options.record,
    );
  } finally {
    // Deletes what a failed run left behind.
    await deleteAddedObjects(cluster.cloud, initially);
    await cluster.close();
  }
}

/** Prints the bare calls in their order, against a fake cloud that answers at once. */
async function rehearse({ controlPlanes, workers }: ReturnType<typeof read>): Promise<void> {
  const say = (line: string): void => {
    process.stdout.write(`${line}\n`);
  };
  const spec = specOf(getBenchCluster(controlPlanes, workers));
  await createClusterWithoutEngine(
    spec,
    await lookUpCloudFacts(new DryRunCloud(say), requiredLookups(spec)),
    createDryRunCreators(say),
  );
}

function read() {
  const { values } = parseArgs({
    options: {
      runs: { type: "string", default: "3" },
      "control-planes": { type: "string", default: "1" },
      workers: { type: "string", default: "2" },
      record: { type: "boolean", default: false },
      "dry-run": { type: "boolean", default: false },
    },
  });
  const number = (key: "runs" | "control-planes" | "workers"): number => {
    if (/^[1-9]\d*$/.test(values[key])) return Number(values[key]);
    throw new Error(`--${key}: '${values[key]}' is not a number from 1 on.`);
  };
  return {
    runs: number("runs"),
    workers: number("workers"),
    controlPlanes: number("control-planes"),
    record: values.record,
    dry: values["dry-run"],
  };
}

async function main(): Promise<void> {
  const options = read();
  await (options.dry ? rehearse(options) : measure(options));
}

main().catch((error: unknown) => {
  process.stderr.write(`${String(error)}\n`);
  process.exitCode = 1;
});
