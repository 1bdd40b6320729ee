/*
 * Compares CPU time and memory of Terraform and of the command line for the same cluster of many
 * machines. The runs of both tools alternate, against a fake cloud, fake machines and a fake
 * cluster (support/scale/). The fakes create objects at once, so only the tools are measured. Runs
 * an `up`, and an `up` with nothing to do. This file is not a test. It needs Go, and builds
 * Terraform at the first run.
 *
 *   npx tsx packages/bench/terraform-large-cluster.ts [--workers 50] [--control-planes 3] [--runs
 *   1] [--record]
 *
 * Ratios are relative to Terraform. The last line is JSON. `--record` appends this line to
 * packages/bench/records.jsonl.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ensureAgent } from "../../automation/setup/ssh-agent.js";
import { connectCloud } from "../../openstack/client/cloud-client.js";
import { requiredLookups } from "../../components/cloud-requirements.js";
import { specOf } from "../../test/support/config/spec.js";
import { lookUpCloudFacts } from "./support/bare/cloud.js";
import { Installation, type CommandRun } from "./support/installation.js";
import { watchProcesses } from "./support/process-watch.js";
import { report } from "./support/records.js";
import { getScaleCluster } from "./support/scale/cluster.js";
import { getFiguresOfComparedTool } from "./support/scale/figures.js";
import { FakesProcess } from "./support/scale/fakes-process.js";
import type { Figures } from "./support/statistics.js";
import { requestedVersions } from "./support/tool-versions.js";
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

/**
 * Interval between two reads of the process list, in milliseconds. The interval is longer than the
 * default, because there are many processes and they run long.
 */
const interval = 200;

interface Size {
  readonly controlPlanes: number;
  readonly workers: number;
}

/** Runs an `up`, and a second `up` with nothing to do. */
async function both(site: FakesProcess, up: () => Promise<CommandRun>): Promise<Figures> {
  const figures: Record<string, number> = {};
  for (const what of ["", "nothing to do: "]) {
    const before = await site.usage();
    const made = getFiguresOfComparedTool(await up());
    const after = await site.usage();
    const changes = after.changes + after.scripts - before.changes - before.scripts;
    if ((what === "") !== changes > 0)
      throw new Error(`${what || "up: "}${String(changes)} changes and scripts.`);
    const all = { ...made, "calls to the cloud": after.calls - before.calls };
    for (const [key, value] of Object.entries(all)) figures[`${what}${key}`] = value;
  }
  process.stderr.write(`${new Date().toISOString()} ${JSON.stringify(figures)}\n`);
  return figures;
}

/** Calls `work` with a separate process of fakes. */
async function against(work: (site: FakesProcess) => Promise<Figures>): Promise<Figures> {
  const site = await FakesProcess.start();
  try {
    return await work(site);
  } finally {
    await site.stop();
  }
}

const ours = ({ controlPlanes, workers }: Size): Promise<Figures> =>
  against(async (site) => {
    const cloud = { environment: () => site.environment, authUrl: site.authUrl };
    const args = getScaleCluster(controlPlanes, workers);
    const place = await Installation.empty(join(__dirname, "../.."), { cloud, args }, interval);
    try {
      return await both(site, () => place.stackadm("up"));
    } finally {
      place.remove();
    }
  });

/** Measures Terraform with the same cluster, in a separate folder. */
const terraforms = (
  { controlPlanes, workers }: Size,
  tools: TerraformTools,
  folder: string,
): Promise<Figures> =>
  against(async (site) => {
    const mark = String(Date.now());
    const agent = await ensureAgent({}, join(folder, "key"));
    const cloud = { ...site.environment, OS_AUTH_URL: `${site.authUrl}/v3` };
    const env = {
      PATH: process.env["PATH"],
      HOME: folder,
      OS_DOMAIN_NAME: "Default",
      ...cloud,
      SSH_AUTH_SOCK: agent.socket,
      STACKADM_BENCH: mark,
    };
    try {
      const spec = specOf(getScaleCluster(controlPlanes, workers));
      const facts = await lookUpCloudFacts(
        await connectCloud({ env: cloud }),
        requiredLookups(spec),
      );
      const drawn = drawRandomValues();
      const account = new TerraformDirectory(folder, tools, env);
      account.write(
        renderTerraformConfiguration(await collectRegisteredResources(spec, facts, drawn), drawn),
      );
      await account.init();
      return await both(site, async () => {
        const beganAt = performance.now();
        const applied = account.apply();
        const processes = await watchProcesses(`STACKADM_BENCH=${mark}`, applied, interval);
        return { output: await applied, wall: performance.now() - beganAt, processes };
      });
    } finally {
      await agent.close();
    }
  });

async function measure(size: Size, runs: number, keep: boolean): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "stackadm-bench-"));
  try {
    const tools = await buildTerraformTools(folder);
    const columns = { Terraform: [] as Figures[], stackadm: [] as Figures[] };
    for (let turn = 0; turn < runs; turn += 1) {
      const account = mkdtempSync(join(folder, "account-"));
      columns.Terraform.push(await terraforms(size, tools, account));
      columns.stackadm.push(await ours(size));
    }
    const made = Object.entries(columns).map(([name, of]) => ({ name, runs: of }));
    const versions = { ...requestedVersions, ...terraformVersions };
    await report({ bench: "terraform scale", options: { ...size }, versions, columns: made }, keep);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function main(): Promise<void> {
  const text = (value: string) => ({ type: "string", default: value }) as const;
  const { values } = parseArgs({
    options: {
      workers: text("50"),
      "control-planes": text("3"),
      runs: text("1"),
      record: { type: "boolean", default: false },
    },
  });
  const size = { controlPlanes: Number(values["control-planes"]), workers: Number(values.workers) };
  await measure(size, Number(values.runs), values.record);
}

main().catch((error: unknown) => {
  process.stderr.write(`${String(error)}\n`);
  process.exitCode = 1;
});
