import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { run } from "../../../base/run-command.js";

const root = resolve(__dirname, "..", "..", "..");

const program = `
import type { Network } from "@pulumi/openstack/networking/network.js";
import { output, type StackReference } from "@pulumi/pulumi";
import { Cluster, localContextOf, prepare, type ClusterArgs } from "stackadm";
import { ClusterError, createClusterService, prepareEnvironment } from "stackadm/automation";
import type { CloudObject, DestroyResult, EnvironmentOptions, Finding } from "stackadm/automation";
import type { OperationEnvironment, Orphan, PlanRow } from "stackadm/automation";
import type { Progress, QuotaUse, Step, UpResult } from "stackadm/automation";

export const make = async ({ ssh, ...args }: ClusterArgs, network: Network, other: StackReference): Promise<Cluster> =>
  new Cluster("dev", await prepare({
    ...args,
    externalNetwork: other.requireOutput("externalNetwork").apply(String),
    network: { existing: { network: network.id }, securityGroups: [output("group"), "other"] },
    controlPlane: { flavor: Promise.resolve("medium"), nodes: { 0: { image: output("image") } } },
    allowedCidrs: [output("203.0.113.0/24")],
  }, { operator: localContextOf(process.env) }));
// @ts-expect-error: the number of machines must be known.
export const counted: ClusterArgs["workers"] = { general: { flavor: "m", count: output(2) } };
export const up = (): Promise<UpResult> => service.start("up", "dev").result;
export const down = (): Promise<DestroyResult> =>
  service.start("destroy", "dev", { abandon: true }).result;
export const hear = async (): Promise<void> => {
  for await (const event of service.start("refresh", "dev").events())
    if (event.type === "done" && !event.ok) console.error(event.n, event.error?.code);
};
const step: Step = { update: () => undefined, done: () => undefined, failed: () => undefined };
const progress: Progress = { step: () => step, note: console.error };
const told: EnvironmentOptions = { progress };
export const environments = (): Promise<OperationEnvironment>[] =>
  [prepareEnvironment(), prepareEnvironment({}), prepareEnvironment(told)];
export const find = (onQuotas: (of: readonly QuotaUse[]) => void): Promise<Finding[]> =>
  service.preflight("dev", { onQuotas });
export const rows = async (): Promise<readonly PlanRow[]> => (await service.start("preview", "dev").result).plan;
export const left = ({ deleted, kept }: DestroyResult): [readonly Orphan[], readonly CloudObject[]] =>
  [deleted, kept];
const service = createClusterService({ env: process.env, backend: "file:///nowhere" });
console.log(typeof Cluster, typeof ClusterError, typeof service.start);
`;

describe("the package as a library of another program", function () {
  this.timeout(120_000);
  let directory: string;

  before(() => {
    directory = mkdtempSync(join(tmpdir(), "stackadm-library-"));
    mkdirSync(join(directory, "node_modules"));
    symlinkSync(root, join(directory, "node_modules", "stackadm"));
    for (const scope of ["@types", "@pulumi"])
      symlinkSync(join(root, "node_modules", scope), join(directory, "node_modules", scope));
    writeFileSync(join(directory, "package.json"), JSON.stringify({ name: "embedding" }));
    writeFileSync(join(directory, "program.ts"), program);
    const compilerOptions = {
      target: "es2023",
      module: "nodenext",
      strict: true,
      skipLibCheck: true,
      types: ["node"],
    };
    writeFileSync(join(directory, "tsconfig.json"), JSON.stringify({ compilerOptions }));
  });
  after(() => {
    rmSync(directory, { recursive: true, force: true });
  });

  it("exports the cluster and the cluster operations with their types", async () => {
    const compiler = join(root, "node_modules", "typescript", "bin", "tsc");
    await run(process.execPath, [compiler, "-p", directory]);
    const { stdout } = await run(process.execPath, [join(directory, "program.js")]);
    assert.equal(stdout.trim(), "function function function");
  });
});
