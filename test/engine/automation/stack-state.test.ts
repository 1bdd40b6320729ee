import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createListeningService } from "../../support/engine/listening-service.js";
import { StackOperation } from "../../../automation/engine/operation-context.js";
import { runPulumi, readState } from "../../../automation/pulumi/stack-state.js";
import { ServiceProject } from "../support/service-project.js";

const modules = resolve(__dirname, "..", "..", "..", "node_modules", "@pulumi");
const sdk = join(modules, "command");
const program = `
const command = require(${JSON.stringify(sdk)});
module.exports = async () => {
  const step = new command.local.Command("step", { create: "echo '<&> é'" }, { additionalSecretOutputs: ["stdout"] });
  return { said: step.stdout };
};
`;

describe("the state of a stack", function () {
  this.timeout(240_000);
  let project: ServiceProject;
  before(() => {
    project = new ServiceProject("checkpoint", program);
  });
  after(() => {
    project.remove();
  });

  it("has no deployment after a kill during its creation, until the next up", async () => {
    const { service, checkpoint } = project;
    const { access } = new StackOperation(service, "dev");
    await createListeningService(service).up("dev", { preflight: false, verify: false });
    const kept = JSON.parse(readFileSync(checkpoint, "utf8")) as { checkpoint: object };
    writeFileSync(checkpoint, JSON.stringify({ ...kept, checkpoint: { stack: "dev" } }));
    assert.match((await runPulumi(access, ["stack", "export"])).stdout, /"deployment": null/);
    assert.deepEqual((await readState(access))?.deployment, {});
    await createListeningService(service).up("dev", { preflight: false, verify: false });
    assert.equal((await readState(access))?.deployment.resources?.length, 3);
  });
});
