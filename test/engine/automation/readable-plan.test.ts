import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getPackageRoot } from "../../../base/paths.js";
import {
  startBenchFakeCluster,
  type BenchFakeCluster,
} from "../../../packages/bench/support/fake-cluster.js";
import { recordedState } from "../../support/engine/record-state.js";
import type { RecordedCluster } from "../../support/engine/recorded-cluster.js";
import type { Project } from "../support/project.js";
import { holding, previewOf } from "../support/recorded.js";

/** Copies of a checkout's folders that a program imports. */
const folders = ["base", "openstack", "components", "package.json"];

describe("the plan of a release with a changed script", function () {
  this.timeout(600_000);
  const scratch = mkdtempSync(join(tmpdir(), "stackadm-readable-plan-"));
  const release = join(scratch, "release");
  let living: BenchFakeCluster;
  let project: Project;
  let cluster: RecordedCluster;

  before(async () => {
    for (const folder of folders)
      cpSync(join(getPackageRoot(), folder), join(release, folder), { recursive: true });
    symlinkSync(join(getPackageRoot(), "node_modules"), join(release, "node_modules"));
    living = await startBenchFakeCluster(scratch);
    const { answers, args, facts } = living;
    cluster = { args: { ...args, ssh: { publicKey: "ssh-ed25519 AAAA" } }, cloud: facts };
    const state = await recordedState(cluster, { scripts: true, answers });
    ({ project } = await holding(state, living.cloud, join(release, "components")));
  });
  after(async () => {
    project.remove();
    await living.close();
    rmSync(scratch, { recursive: true });
  });

  const planned = async (): Promise<string[]> => {
    const { steps } = await previewOf(project, cluster);
    const changes = steps.filter(({ op }) => op !== "same");
    return changes.map(({ op, urn }) => `${op} ${urn.split("::").at(-1) ?? ""}`).sort();
  };

  /** Returns the planned operations after a change in a script of the release. */
  const plannedWith = async (script: string, [from, to]: [string, string]): Promise<string[]> => {
    const file = join(release, "components", script);
    const text = readFileSync(file, "utf8");
    assert.ok(text.includes(from), from);
    writeFileSync(file, text.replace(from, to));
    try {
      return await planned();
    } finally {
      writeFileSync(file, text);
    }
  };

  it("uses a state below 60 kB that contains only the text of delete scripts", async () => {
    const state = await project.export();
    assert.ok(!state.includes("run_step"));
    const { deployment } = JSON.parse(state) as { deployment: { resources: { urn: string }[] } };
    // Only the resources of scripts that run at deletion contain the compressed text of their
    // script.
    for (const one of deployment.resources)
      if (JSON.stringify(one).includes("base64 -d")) assert.match(one.urn, /-(leave|teardown)$/);
    const worker = deployment.resources.filter(({ urn }) =>
      urn.includes("::dev-workers-general-0"),
    );
    const size = JSON.stringify(worker).length;
    // The measured size was 53 kB. It was 43 kB when the resources of leave scripts contained no
    // text, and 118 kB when all resources contained the text of their script.
    assert.ok(size < 60_000, String(size));
  });

  it("is empty without a changed script", async () => {
    assert.deepEqual(await planned(), []);
  });

  it("contains only the machines whose script changed, and no Kubernetes object", async () => {
    const digit: [string, string] = ["--max-time 10", "--max-time 11"];
    const machines = ["control-plane-0", "workers-general-0", "workers-general-1"];
    assert.deepEqual(
      await plannedWith("machine/scripts/prepare/proxy.sh", digit),
      // The script file of every role contains the scripts of the step `prepare`.
      machines.flatMap((one) => [`update dev-${one}-prepare`, `update dev-${one}-scripts`]),
    );
  });

  it("contains no other machine or add-on if a control plane script changed", async () => {
    const change: [string, string] = [
      "apply_labels_and_taints\n",
      "apply_labels_and_taints; true\n",
    ];
    assert.deepEqual(await plannedWith("kubeadm/scripts/steps/control-plane.sh", change), [
      "update dev-control-plane-0-init",
      "update dev-control-plane-0-scripts",
    ]);
  });
});
