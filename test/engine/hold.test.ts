import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { createClusterService } from "../../automation/cluster/cluster-service.js";
import { Run } from "../../automation/cluster/run.js";
import { pulumi, readState, writeState } from "../../automation/cluster/state.js";
import { toolDirectory } from "./support/tools.js";

const sdk = resolve(__dirname, "..", "..", "node_modules", "@pulumi", "command");
const program = `
const command = require(${JSON.stringify(sdk)});
module.exports = async () => {
  new command.local.Command("step", { create: "echo made" });
};
`;

describe("an engine that only holds a stack", function () {
  this.timeout(240_000);
  let directory: string;
  let service: ConstructorParameters<typeof Run>[0];
  const stateHome = process.env["XDG_STATE_HOME"];
  before(async () => {
    directory = mkdtempSync(join(tmpdir(), "stackadm-hold-"));
    mkdirSync(join(directory, "backend"));
    const backend = pathToFileURL(join(directory, "backend")).href;
    process.env["XDG_STATE_HOME"] = join(directory, "state");
    writeFileSync(join(directory, "Pulumi.yaml"), "name: hold\nruntime: nodejs\n");
    writeFileSync(join(directory, "Pulumi.dev.yaml"), "config: {}\n");
    writeFileSync(join(directory, "index.js"), program);
    const env = {
      ...process.env,
      PATH: `${toolDirectory()}${delimiter}${process.env["PATH"] ?? ""}`,
      PULUMI_HOME: process.env["STACKADM_PULUMI_HOME"] ?? join(directory, "home"),
      PULUMI_BACKEND_URL: backend,
      PULUMI_CONFIG_PASSPHRASE: "engine-tests",
      PULUMI_SKIP_UPDATE_CHECK: "true",
      PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
    };
    const file = join(directory, "index.js");
    service = { env, backend, projectDirectory: directory, program: file };
    await createClusterService(service).up("dev", { preflight: false, verify: false });
  });
  after(() => {
    if (stateHome === undefined) delete process.env["XDG_STATE_HOME"];
    else process.env["XDG_STATE_HOME"] = stateHome;
    rmSync(directory, { recursive: true, force: true });
  });

  it("refuses everybody else meanwhile, and leaves state, pending operations and history as they were", async () => {
    const run = new Run(service, "dev");
    const made = await readState(run.access);
    const resource = made?.deployment.resources?.find(({ urn }) => urn.endsWith("::step"));
    assert.ok(made && resource);
    const { id, outputs, ...half } = { ...resource, urn: `${resource.urn}-2` };
    assert.ok(id !== undefined && outputs !== undefined);
    const pending = [
      { type: "creating", resource: half },
      { type: "updating", resource },
    ];
    // An import forgets what is pending.
    const file = join(directory, "backend", ".pulumi", "stacks", "hold", "dev.json");
    const kept = JSON.parse(readFileSync(file, "utf8")) as { checkpoint: { latest: object } };
    Object.assign(kept.checkpoint.latest, { pending_operations: pending });
    writeFileSync(file, JSON.stringify(kept));
    const look = async () => ({
      state: await readState(run.access),
      history: (await pulumi(run.access, ["stack", "history", "--json"])).stdout,
    });
    const before = await look();
    assert.equal(before.state?.deployment.pending_operations?.length, 2);
    const meanwhile = await run.hold(async () => {
      await assert.rejects(writeState(run.access, made), /currently locked/);
      await assert.rejects(
        new Run(service, "dev").hold(() => assert.fail("two hold the stack")),
        { code: "STACK_LOCKED" },
      );
      return look();
    });
    assert.deepEqual(meanwhile, before);
    assert.deepEqual(await look(), before);
    assert.deepEqual(await createClusterService(service).locks("dev"), []);
  });
});
