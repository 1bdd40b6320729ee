import assert from "node:assert/strict";
import { buildProgram } from "../../../../automation/cli/main.js";
import { golden } from "../../../support/golden.js";

const program = buildProgram();
const commands = program.commands.flatMap((command) => [command, ...command.commands]);

describe("command line help", () => {
  it("lists every command and the exit codes", () => {
    let text = "";
    program.configureOutput({
      writeOut: (part) => (text += part),
      getOutHelpWidth: () => 100,
    });
    program.outputHelp();
    golden("cli/help/stackadm.txt", text);
    assert.match(text, /Exit codes: 0 success/);
  });

  for (const command of commands)
    it(`describes '${command.name()}' and its options`, () => {
      let text = "";
      command.configureOutput({ writeOut: (part) => (text += part), getOutHelpWidth: () => 100 });
      command.outputHelp();
      const parent = command.parent === program ? "" : `${command.parent?.name() ?? ""}-`;
      golden(`cli/help/${parent}${command.name()}.txt`, text);
      assert.ok(command.description().length > 10);
    });

  it("shows 'dev' as the default stack", () => {
    assert.equal(program.opts<{ stack: string }>().stack, "dev");
  });
});
