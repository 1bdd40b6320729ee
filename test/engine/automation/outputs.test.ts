import assert from "node:assert/strict";
import { resolve } from "node:path";
import { StackOperation } from "../../../automation/engine/operation-context.js";
import { readStackOutputs } from "../../../automation/pulumi/stack-state.js";
import { ServiceProject } from "../support/service-project.js";

const modules = resolve(__dirname, "..", "..", "..", "node_modules");
/** Program with one output of each kind that a program may have. */
const program = `
const pulumi = require(${JSON.stringify(resolve(modules, "@pulumi/pulumi"))});
const command = require(${JSON.stringify(resolve(modules, "@pulumi/command"))});
module.exports = async () => {
  const { stdout } = new command.local.Command("made", { create: "printf '1 2'" });
  const hidden = pulumi.secret(stdout);
  return {
    plain: "text", made: stdout, hidden, none: null, count: 3,
    nodes: [{ name: stdout, port: 6443, missing: undefined }, { name: pulumi.output(Promise.resolve("later")) }],
    partly: { user: "u", password: hidden, deeper: [{ word: pulumi.secret("w") }] },
    split: stdout.apply((text) => ({ parts: text.split(" "), nothing: undefined })),
    empty: pulumi.output({}), nothing: undefined, later: pulumi.output(undefined),
  };
};
`;

describe("readStackOutputs", function () {
  this.timeout(120_000);
  let project: ServiceProject;
  before(() => {
    project = new ServiceProject("outputs", program);
  });
  after(() => {
    project.remove();
  });

  it("returns outputs in plain text and marks those that contain a secret", async () => {
    const run = new StackOperation(project.service, "dev");
    await run.runEngine("up");
    const outputs = await readStackOutputs(run.access);
    run.close();
    const secret = Object.entries(outputs).filter(([, one]) => one.secret);
    assert.deepEqual(secret.map(([name]) => name).sort(), ["hidden", "partly"]);
    assert.deepEqual(outputs["plain"], { value: "text", secret: false });
    assert.deepEqual(outputs["hidden"], { value: "1 2", secret: true });
    assert.deepEqual(outputs["partly"]?.value, {
      user: "u",
      password: "1 2",
      deeper: [{ word: "w" }],
    });
  });
});
