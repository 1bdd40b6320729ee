import assert from "node:assert/strict";
import { succeeded } from "../support/project.js";
import { Roll } from "../support/roll.js";

/**
 * Program with a resource that has the same options as volumes and servers. Changes of its frozen
 * input `create` are ignored.
 */
const program = `
new command.local.Command("disk", { create: note("made-" + wanted.size), addPreviousOutputInEnv: false }, {
  replacementTrigger: wanted.generation, ignoreChanges: ["create"],
});
`;

describe("an ignored change of a machine", function () {
  this.timeout(120_000);
  let roll: Roll<{ readonly generation: number; readonly size: number }>;
  before(async () => {
    roll = await Roll.create(program);
  });
  after(() => roll.remove());

  it("takes effect with the next generation", async () => {
    succeeded(await roll.up({ generation: 0, size: 1 }));
    succeeded(await roll.up({ generation: 0, size: 2 }));
    assert.deepEqual(roll.happened(), ["made-1"]);
    succeeded(await roll.up({ generation: 1, size: 2 }));
    assert.deepEqual(roll.happened(), ["made-2"]);
  });
});
