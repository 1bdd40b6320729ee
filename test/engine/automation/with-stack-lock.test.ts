import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { createListeningService } from "../../support/engine/listening-service.js";
import { StackOperation } from "../../../automation/engine/operation-context.js";
import { runPulumi, readState, writeState } from "../../../automation/pulumi/stack-state.js";
import { ServiceProject } from "../support/service-project.js";

const sdk = resolve(__dirname, "..", "..", "..", "node_modules", "@pulumi", "command");
const program = `
const command = require(${JSON.stringify(sdk)});
module.exports = async () => {
  new command.local.Command("step", { create: "echo made" });
};
`;

describe("StackOperation.hold", function () {
  this.timeout(240_000);
  let project: ServiceProject;
  before(async () => {
    project = new ServiceProject("hold", program);
    await createListeningService(project.service).up("dev", { preflight: false, verify: false });
  });
  after(() => {
    project.remove();
  });

  it("refuses other operations, and keeps state, pending operations and history", async () => {
    const { service, checkpoint } = project;
    const run = new StackOperation(service, "dev");
    const made = await readState(run.access);
    const resource = made?.deployment.resources?.find(({ urn }) => urn.endsWith("::step"));
    assert.ok(made && resource);
    const { id, outputs, ...half } = { ...resource, urn: `${resource.urn}-2` };
    assert.ok(id !== undefined && outputs !== undefined);
    const pending = [
      { type: "creating", resource: half },
      { type: "updating", resource },
    ];
    // Edits the checkpoint file, because an import drops pending operations.
    const kept = JSON.parse(readFileSync(checkpoint, "utf8")) as { checkpoint: { latest: object } };
    Object.assign(kept.checkpoint.latest, { pending_operations: pending });
    writeFileSync(checkpoint, JSON.stringify(kept));
    const look = async () => ({
      state: await readState(run.access),
      history: (await runPulumi(run.access, ["stack", "history", "--json"])).stdout,
    });
    const before = await look();
    assert.equal(before.state?.deployment.pending_operations?.length, 2);
    const meanwhile = await run.hold(async () => {
      await assert.rejects(writeState(run.access, made), /currently locked/);
      await assert.rejects(
        new StackOperation(service, "dev").hold(() => assert.fail("two hold the stack")),
        { code: "STACK_LOCKED" },
      );
      return look();
    });
    assert.deepEqual(meanwhile, before);
    assert.deepEqual(await look(), before);
    assert.deepEqual(await createListeningService(service).locks("dev"), []);
  });
});
