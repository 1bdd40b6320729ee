import { strict as assert } from "node:assert";
import { z } from "zod";
import { readStateBeforeRun } from "../../../components/pulumi/recorded-resources.js";
import { graph } from "../../support/graph/graph.js";

describe("readStateBeforeRun", () => {
  it("reads the state once per run", async () => {
    let asked = 0;
    const lookups = {
      "pulumi:pulumi:readStackResourceOutputs": () => {
        asked += 1;
        return { outputs: { [`urn::${String(asked)}`]: { type: "x" } } };
      },
    };
    const seen: (string | undefined)[] = [];
    const program = async (): Promise<void> => {
      // Two concurrent calls, then a later one.
      const states = [
        ...(await Promise.all([readStateBeforeRun(), readStateBeforeRun()])),
        await readStateBeforeRun(),
      ];
      seen.push(...states.map((state) => state?.map(({ name }) => name).join(" ")));
    };
    for (const run of [1, 2]) {
      await graph(program, { lookups });
      assert.equal(asked, run);
    }
    assert.deepEqual(seen, ["1", "1", "1", "2", "2", "2"]);
  });

  it("reads the state again after a failed read", async () => {
    let asked = 0;
    const lookups = {
      "pulumi:pulumi:readStackResourceOutputs": () => {
        asked += 1;
        if (asked === 1) throw new Error("the backend is on fire");
        return { outputs: {} };
      },
    };
    const seen: unknown[] = [];
    await graph(
      async () => {
        for (let turn = 0; turn < 3; turn += 1) seen.push(await readStateBeforeRun());
      },
      { lookups },
    );
    assert.deepEqual([seen, asked], [[undefined, [], []], 2]);
  });

  it("fails the run if the engine's answer has another shape", async () => {
    // The mocks stay in this process, so they give only the first answer another shape.
    const answers: Record<string, unknown>[] = [{ outputs: { urn: 1 } }];
    const lookups = { "pulumi:pulumi:readStackResourceOutputs": () => answers.pop() ?? {} };
    let failure: unknown;
    await graph(
      async () => {
        await readStateBeforeRun().catch((error: unknown) => (failure = error));
      },
      { lookups },
    );
    assert.ok(failure instanceof z.ZodError, String(failure));
  });
});
