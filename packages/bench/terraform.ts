/*
 * Compares the command line with Terraform and its OpenStack provider on the lab, for the same
 * cluster. The runs of both tools alternate. The Terraform configuration is generated from the
 * resources that the program registers (support/terraform/). Measures an `up`, an `up` with nothing
 * to do, an `up` with one more worker, and a `destroy`. This file is not a test. It needs the lab,
 * and nothing else may run on the lab. It builds Terraform at the first run.
 *
 *   npx tsx packages/bench/terraform.ts [--runs 3] [--control-planes 1] [--workers 2] [--latency 0]
 *       [--server-latency 0] [--stages] [--record]
 *   npx tsx packages/bench/terraform.ts --dry-run     # only writes and plans the configuration
 *
 * `--latency` delays each call to the cloud by this number of milliseconds. `--server-latency`
 * delays the creation of each server by this number of seconds. `--stages` makes Terraform wait
 * after each step for all machines. Ratios are relative to Terraform. The last line is JSON.
 * `--record` appends this line to packages/bench/records.jsonl.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { connectCloud } from "../../openstack/client/cloud-client.js";
import {
  compareInventories,
  takeInventory,
  type CloudObject,
} from "../../openstack/inventory/inventory.js";
import type { ClusterSpec } from "../../components/config/cluster-spec.js";
import { requiredLookups } from "../../components/cloud-requirements.js";
import { behindProxy } from "../../test/lab/support/faults/behind-proxy.js";
import { labCluster, type LabCluster } from "../../test/lab/support/stack/lab-cluster.js";
import { startFakeCloud } from "../../test/support/cloud/fake-openstack.js";
import { specOf } from "../../test/support/config/spec.js";
import { lookUpCloudFacts } from "./support/bare/cloud.js";
import { deleteAddedObjects } from "./support/bare/destroy.js";
import { DryRunCloud } from "./support/bare/dry-run-cloud.js";
import { waitUntilWorking } from "./support/bare/wait-until-working.js";
import { getBenchCluster, benchClusterName } from "./support/bench-cluster.js";
import type { ResourceWork } from "./support/moments.js";
import { runStackadm } from "./support/run-stackadm.js";
import { getToolchainVersions } from "./support/tool-versions.js";
import { report } from "./support/records.js";
import { createCountedCloudEnvironment } from "./support/counted-cloud.js";
import type { Figures } from "./support/statistics.js";
import { TerraformDirectory } from "./support/terraform/working-directory.js";
import { renderTerraformConfiguration } from "./support/terraform/configuration.js";
import {
  drawRandomValues,
  collectRegisteredResources,
} from "./support/terraform/registered-resources.js";
import {
  buildTerraformTools,
  terraformVersions,
  type TerraformTools,
} from "./support/terraform/tools.js";

type Options = ReturnType<typeof read>;

/** Tool that is measured: the command line or Terraform. */
interface Way {
  readonly name: string;
  /**
   * Writes the wanted number of workers to the configuration. This step is not measured, because it
   * is work of the user and not of the tool.
   */
  readonly describe: (workers: number) => Promise<void>;
  /** Changes the cluster to this number of workers and waits for the state in which `up` ends. */
  readonly up: (workers: number) => Promise<unknown>;
  /** `up` with nothing to do. */
  readonly noOp: (workers: number) => Promise<unknown>;
  readonly destroy: (workers: number) => Promise<unknown>;
}

interface Place {
  readonly cluster: LabCluster;
  readonly env: NodeJS.ProcessEnv;
  readonly options: Options;
}

const say = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

/**
 * Returns the functions that measure Terraform. Each cluster has a separate folder, state and
 * identity.
 */
async function terraformWay(
  { env, options, cluster }: Place,
  tools: TerraformTools,
  folder: string,
): Promise<Way> {
  const account = new TerraformDirectory(folder, tools, env);
  const spec = await cluster.service.spec(benchClusterName);
  const facts = await lookUpCloudFacts(await connectCloud({ env }), requiredLookups(spec));
  const drawn = drawRandomValues();
  const describe = async (workers: number): Promise<void> => {
    const general = { ...spec.workers["general"], count: workers };
    const wanted = { ...spec, workers: { ...spec.workers, general } } as ClusterSpec;
    account.write(
      renderTerraformConfiguration(
        await collectRegisteredResources(wanted, facts, drawn),
        drawn,
        options,
      ),
    );
  };
  await describe(options.workers);
  await account.init();
  const login = { user: spec.ssh.user, agentSocket: env["SSH_AUTH_SOCK"] ?? "" };
  return {
    name: "Terraform",
    describe,
    up: async () => {
      await account.apply();
      await waitUntilWorking(await account.outputs(), login);
    },
    noOp: async () => {
      const text = await account.apply();
      if (!text.includes("No changes.")) throw new Error(`Terraform had something to do:\n${text}`);
    },
    destroy: () => account.destroy(),
  };
}

function ourWay({ cluster, env, options: { controlPlanes } }: Place): Way {
  const run = (args: readonly string[], workers: number): Promise<readonly ResourceWork[]> =>
    runStackadm(cluster, args, env, { workers: getBenchCluster(controlPlanes, workers).workers });
  const up = (workers: number): Promise<readonly ResourceWork[]> => run(["up"], workers);
  return {
    name: "stackadm",
    describe: () => Promise.resolve(),
    up,
    noOp: async (workers) => {
      const done = await up(workers);
      if (done.length > 0)
        throw new Error(`There was something to do: ${done.map(({ name }) => name).join(", ")}.`);
    },
    destroy: (workers) => run(["destroy", "--yes"], workers),
  };
}

async function seconds(work: Promise<unknown>): Promise<number> {
  const beganAt = Date.now();
  await work;
  return Math.round((Date.now() - beganAt) / 100) / 10;
}

async function once({ name, ...way }: Way, workers: number): Promise<Figures> {
  await way.describe(workers);
  const up = await seconds(way.up(workers));
  const noOp = await seconds(way.noOp(workers));
  await way.describe(workers + 1);
  const more = await seconds(way.up(workers + 1));
  const destroy = await seconds(way.destroy(workers + 1));
  const figures = { up, "nothing to do": noOp, "one more worker": more, destroy };
  say(`${new Date().toISOString()} ${name} ${JSON.stringify(figures)}`);
  return figures;
}

/**
 * Returns the delay of a call to the cloud in milliseconds. The delay of a server is added to the
 * call that creates the server.
 */
const late =
  ({ latency, serverLatency }: Options) =>
  (method: string, path: string): number =>
    latency + (method === "POST" && path.endsWith("/servers") ? serverLatency * 1000 : 0);

/**
 * Returns an environment with access to the cloud, and a function that closes the connection. If a
 * delay is wanted, the access is through a proxy.
 */
async function reached(
  cluster: LabCluster,
  options: Options,
): Promise<{ readonly env: NodeJS.ProcessEnv; readonly close: () => Promise<void> }> {
  if (options.latency === 0 && options.serverLatency === 0)
    return { env: cluster.environment.env, close: () => Promise.resolve() };
  const { proxy, env } = await behindProxy(cluster, { delay: late(options) });
  return { env: createCountedCloudEnvironment(env), close: () => proxy.close() };
}

/** Throws if a run left objects in the cloud, because other runs would not be comparable. */
async function requireNothingLeft(
  { cloud }: LabCluster,
  initially: readonly CloudObject[],
): Promise<void> {
  const { added } = compareInventories(initially, await takeInventory(cloud));
  const left = added.map(({ kind, name, id }) => `${kind} ${name || id}`);
  if (left.length > 0) throw new Error(`There is left: ${left.join(", ")}.`);
}

async function measure(options: Options): Promise<void> {
  const { runs, controlPlanes, workers, latency, serverLatency, stages } = options;
  const cluster = await labCluster(benchClusterName, getBenchCluster(controlPlanes, workers));
  const initially = await takeInventory(cluster.cloud);
  const folder = mkdtempSync(join(tmpdir(), "stackadm-bench-"));
  const { env, close } = await reached(cluster, options);
  const place: Place = { cluster, env, options };
  try {
    // Compiles the sources if needed, before the first measurement.
    await runStackadm(cluster, ["env"], env);
    const tools = await buildTerraformTools(folder);
    const columns = { Terraform: [] as Figures[], stackadm: [] as Figures[] };
    for (let turn = 0; turn < runs; turn += 1) {
      const account = mkdtempSync(join(folder, "account-"));
      columns.Terraform.push(await once(await terraformWay(place, tools, account), workers));
      await requireNothingLeft(cluster, initially);
      columns.stackadm.push(await once(ourWay(place), workers));
      await requireNothingLeft(cluster, initially);
    }
    await report(
      {
        bench: "terraform",
        options: { controlPlanes, workers, latency, serverLatency, stages: Number(stages) },
        versions: { ...getToolchainVersions(cluster.environment), ...terraformVersions },
        columns: Object.entries(columns).map(([name, made]) => ({ name, runs: made })),
      },
      options.record,
    );
  } finally {
    // Deletes what a failed run left behind.
    await deleteAddedObjects(cluster.cloud, initially);
    await close();
    await cluster.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Writes the configuration, and runs `terraform plan` against a cloud that only accepts sign-ins.
 */
async function rehearse(options: Options): Promise<void> {
  const spec = specOf(getBenchCluster(options.controlPlanes, options.workers));
  const drawn = drawRandomValues();
  const facts = await lookUpCloudFacts(new DryRunCloud(() => undefined), requiredLookups(spec));
  const files = renderTerraformConfiguration(
    await collectRegisteredResources(spec, facts, drawn),
    drawn,
    options,
  );
  const folder = mkdtempSync(join(tmpdir(), "stackadm-terraform-"));
  const cloud = await startFakeCloud({
    services: ["compute", "network", "image", "load-balancer", "identity"],
  });
  const signIn = cloud.environment({
    OS_AUTH_URL: `${cloud.authUrl}/v3`,
    OS_DOMAIN_NAME: "Default",
  });
  try {
    const tools = await buildTerraformTools(folder);
    const account = new TerraformDirectory(folder, tools, { ...process.env, ...signIn });
    account.write(files);
    await account.init();
    const said = [await account.validate(), await account.plan()].join("\n");
    const lines = said.split("\n").filter((line) => /^(Success|Plan:)|is valid/.test(line));
    process.stdout.write(`${[...lines, folder].join("\n")}\n`);
  } finally {
    await cloud.close();
  }
}

function read() {
  const text = (value: string) => ({ type: "string", default: value }) as const;
  const no = { type: "boolean", default: false } as const;
  const { values } = parseArgs({
    options: {
      runs: text("3"),
      "control-planes": text("1"),
      workers: text("2"),
      latency: text("0"),
      "server-latency": text("0"),
      stages: no,
      record: no,
      "dry-run": no,
    },
  });
  const number = (
    key: "runs" | "control-planes" | "workers" | "latency" | "server-latency",
    from: number,
  ): number => {
    if (/^\d+$/.test(values[key]) && Number(values[key]) >= from) return Number(values[key]);
    throw new Error(`--${key}: '${values[key]}' is not a number from ${from} on.`);
  };
  return {
    runs: number("runs", 1),
    workers: number("workers", 1),
    latency: number("latency", 0),
    serverLatency: number("server-latency", 0),
    controlPlanes: number("control-planes", 1),
    dry: values["dry-run"],
    stages: values.stages,
    record: values.record,
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
