import assert from "node:assert/strict";
import type { RunOptions, Stage } from "../../../../automation/engine/operation-options.js";
import { Redactor } from "../../../../base/terminal/redact-secrets.js";
import { RunView } from "../../../../automation/render/run-progress.js";
import type { Progress } from "../../../../base/progress.js";

describe("what a person sees of a run", () => {
  let said: string[];
  let emitted: unknown[];
  const redactor = new Redactor();
  redactor.add("secret-token-value");
  const progress: Progress = {
    step: (title, seconds) => {
      said.push(`> ${title} (${String(seconds)})`);
      return {
        update: (detail) => said.push(`  ${detail}`),
        done: () => said.push(`+ ${title}`),
        failed: (note) => said.push(`x ${title}${note === undefined ? "" : `: ${note}`}`),
      };
    },
    note: (text) => said.push(text),
  };
  const view = (direction: "up" | "destroy" = "up"): RunView => {
    const emit = (fields: unknown): void => {
      emitted.push(fields);
    };
    return new RunView({ progress, redactor, direction, stack: "dev", emit });
  };
  const stages =
    (...all: readonly Stage[]) =>
    ({ onStage }: Pick<RunOptions, "onStage">): Promise<string> => {
      for (const stage of all) onStage?.(stage);
      return Promise.resolve("made");
    };
  beforeEach(() => {
    [said, emitted] = [[], []];
  });

  it("is a step for each stage, which ends when the next one begins", async () => {
    assert.equal(
      await view().show(stages("repair", "preflight", "operation", "verification")),
      "made",
    );
    assert.deepEqual(said, [
      "> Delete what an interrupted run left (10)",
      "+ Delete what an interrupted run left",
      "> Check whether the cluster fits into the cloud (3)",
      "+ Check whether the cluster fits into the cloud",
      "> Bring up the cluster 'dev' (150)",
      "+ Bring up the cluster 'dev'",
      "> Verify the cluster from outside (10)",
      "+ Verify the cluster from outside",
    ]);
  });

  it("has other words when a cluster goes, and one step for a stage that is named again", async () => {
    await view("destroy").show(stages("operation", "operation", "sweep"));
    assert.deepEqual(said, [
      "> Destroy the cluster 'dev' (90)",
      "+ Destroy the cluster 'dev'",
      "> Check that nothing is left in the project (5)",
      "+ Check that nothing is left in the project",
    ]);
  });

  it("shows details and notes without secrets, and passes events on to programs", async () => {
    const event = { type: "summary", at: 0, seconds: 1, changes: {} } as const;
    await view().show(({ onStage, onNote, onEvent }) => {
      onStage?.("verification", "asks with secret-token-value");
      onNote?.("prints secret-token-value");
      onEvent?.(event);
      return Promise.resolve();
    });
    assert.deepEqual(said.slice(1, 3), ["  asks with [secret]", "prints [secret]"]);
    assert.deepEqual(emitted, [{ type: "event", event }]);
  });

  for (const [stage, last] of [
    ["preflight", "x Check whether the cluster fits into the cloud: no [secret]"],
    ["operation", "x Bring up the cluster 'dev'"],
  ] as const)
    it(`ends badly where it failed, with the first line of what is no phase's: ${stage}`, async () => {
      const error = new Error("no secret-token-value\nsecond line");
      const work = view().show(({ onStage }) => {
        onStage?.(stage);
        return Promise.reject(error);
      });
      await assert.rejects(work, error);
      assert.equal(said.at(-1), last);
    });

  it("says how long the look took, and nothing of one that was not taken", async () => {
    const looked = view();
    await looked.show(stages("operation", "verification"));
    assert.deepEqual(
      looked.times().map(({ title }) => title),
      ["Verification"],
    );
    const blind = view();
    await blind.show(stages("operation"));
    assert.deepEqual(blind.times(), []);
  });
});
