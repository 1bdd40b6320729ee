import assert from "node:assert/strict";
import { resolve } from "node:path";
import { StackOperation } from "../../../automation/engine/operation-context.js";
import { readStackOutputs } from "../../../automation/pulumi/stack-state.js";
import { ServiceProject } from "../support/service-project.js";

const modules = resolve(__dirname, "..", "..", "..", "node_modules");
/** Program with one output of each kind that the package's own program has. */
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

describe("the outputs that the program's process tells", function () {
  this.timeout(120_000);
  let project: ServiceProject;
  before(() => {
    project = new ServiceProject("outputs", program);
  });
  after(() => {
    project.remove();
  });

  it("are those that the state has, secret where they hold a secret: when they are made and when nothing is to be done", async () => {
    for (let runs = 0; runs < 2; runs += 1) {
      const run = new StackOperation(project.service, "dev");
      await run.engine("up", { tellsOutputs: true });
      assert.deepEqual(run.made, await readStackOutputs(run.access));
      const secret = Object.entries(run.made).filter(([, one]) => one.secret);
      assert.deepEqual(secret.map(([name]) => name).sort(), ["hidden", "partly"]);
      run.close();
    }
  });

  it("are not told by a program of somebody's own, which may return anything", async () => {
    const run = new StackOperation(project.service, "dev");
    await run.engine("up");
    assert.equal(run.made, undefined);
    run.close();
  });
});
