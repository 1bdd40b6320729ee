import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { readCheckpoint } from "../../../automation/pulumi/checkpoint-files.js";
import { createListeningService } from "../../support/engine/listening-service.js";
import { StackOperation } from "../../../automation/engine/operation-context.js";
import { pulumi, readState, writeState } from "../../../automation/pulumi/stack-state.js";
import { ServiceProject } from "../support/service-project.js";

const modules = resolve(__dirname, "..", "..", "..", "node_modules", "@pulumi");
const [sdk, pulumiSdk] = [join(modules, "command"), join(modules, "pulumi")];
const program = `
const command = require(${JSON.stringify(sdk)});
const { ResourceHook } = require(${JSON.stringify(pulumiSdk)});
module.exports = async () => {
  const hooks = { beforeCreate: [new ResourceHook("look", () => undefined)] };
  const step = new command.local.Command("step", { create: "echo '<&> é'" }, { hooks, additionalSecretOutputs: ["stdout"] });
  return { said: step.stdout };
};
`;

describe("the file in which the engine keeps a stack", function () {
  this.timeout(240_000);
  let project: ServiceProject;
  before(() => {
    project = new ServiceProject("checkpoint", program);
  });
  after(() => {
    project.remove();
  });

  it("says what the engine's export says, also of what is pending, and nothing before there is a stack", async () => {
    const { service, checkpoint } = project;
    const { access } = new StackOperation(service, "dev");
    const place = { backend: service.backend, project: "checkpoint", stack: "dev" };
    const same = async (): Promise<string> => {
      const { stdout } = await pulumi(access, ["stack", "export"]);
      assert.deepEqual(readCheckpoint(place), JSON.parse(stdout));
      return stdout;
    };
    assert.equal(readCheckpoint(place), undefined);
    await createListeningService(service).up("dev", { preflight: false, verify: false });
    const made = await same();
    // A resource hook requires the newer format.
    for (const part of [/"ciphertext"/, /"version": 4/, /"features"/]) assert.match(made, part);
    const kept = JSON.parse(readFileSync(checkpoint, "utf8")) as {
      checkpoint: { latest: { resources: object[] } };
    };
    const { latest } = kept.checkpoint;
    const pending = [{ type: "updating", resource: latest.resources.at(-1) }];
    Object.assign(latest, { pending_operations: pending });
    writeFileSync(checkpoint, JSON.stringify(kept));
    assert.match(await same(), /"pending_operations"/);
    const read = await readState(access);
    assert.ok(read);
    await writeState(access, read);
    assert.match(await same(), /"version": 4/);
  });

  it("has nothing in it for a moment when the stack is made: who is killed then has the next up go on", async () => {
    const { service, checkpoint } = project;
    const { access } = new StackOperation(service, "dev");
    const kept = JSON.parse(readFileSync(checkpoint, "utf8")) as { checkpoint: object };
    writeFileSync(checkpoint, JSON.stringify({ ...kept, checkpoint: { stack: "dev" } }));
    assert.match((await pulumi(access, ["stack", "export"])).stdout, /"deployment": null/);
    assert.deepEqual((await readState(access))?.deployment, {});
    await createListeningService(service).up("dev", { preflight: false, verify: false });
    assert.equal((await readState(access))?.deployment.resources?.length, 3);
  });
});
