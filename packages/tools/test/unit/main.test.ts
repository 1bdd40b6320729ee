import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { getPackageRoot } from "../../../../base/paths.js";
import { buildProgram } from "../../main.js";
import { tiers } from "../../tiers.js";
import { goldenIn } from "../../../../test/support/golden.js";

const golden = goldenIn(join(__dirname, "../golden"));
const program = buildProgram("/nowhere");

describe("help of `npm run` commands", () => {
  for (const command of [program, ...program.commands]) {
    const name = command === program ? "help" : command.name();
    it(`describes ${name}`, () => {
      let text = "";
      command.configureOutput({ writeOut: (part) => (text += part), getOutHelpWidth: () => 100 });
      command.outputHelp();
      golden(`${name}.txt`, text);
      assert.ok(command.description().length > 10);
    });
  }

  it("lists exactly the existing tiers", () => {
    const test = program.commands.find((one) => one.name() === "test");
    const named = test?.registeredArguments[0]?.description.split(", ");
    assert.deepEqual(
      named,
      tiers.map(({ name }) => name),
    );
  });
});

describe("commands of `npm run dev`, `npm test`, `npm run check` and `npm run build`", () => {
  it("accept additional arguments", () => {
    const file = readFileSync(join(getPackageRoot(), "package.json"), "utf8");
    const { scripts } = JSON.parse(file) as { scripts: Record<string, string> };
    const { dev, test, check, build } = scripts;
    assert.equal(dev, "node packages/tools/run.mjs dev");
    assert.equal(test, "node packages/tools/run.mjs test");
    assert.equal(check, "node packages/tools/run.mjs check");
    assert.equal(build, "node packages/tools/run.mjs build");
    const names = tiers.map(({ name }) => name).filter((name) => name !== "emulated");
    assert.equal(scripts["test:all"], `node packages/tools/run.mjs test ${names.join(" ")}`);
  });
});
