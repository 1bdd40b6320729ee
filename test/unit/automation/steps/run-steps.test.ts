import assert from "node:assert/strict";
import type { StackOperation } from "../../../../automation/engine/operation-context.js";
import { describeSteps, runSteps } from "../../../../automation/steps/run-steps.js";
import {
  makeGuardsConditional,
  makeStepsConditional,
  type OperationFacts,
  type Operation,
  type OperationStep,
} from "../../../../automation/steps/step.js";

describe("steps of an operation", () => {
  let log: string[];
  let facts: OperationFacts;
  beforeEach(() => {
    log = [];
    const run = {
      step: ({ title }: OperationStep, work: () => unknown) => {
        log.push(`begin ${title}`);
        return work();
      },
    };
    facts = { run: run as unknown as StackOperation };
  });

  /** Returns a step that logs what the runner calls. */
  const step = (title: string, found?: string): OperationStep<OperationFacts, string, string> => ({
    title,
    detect: () => {
      log.push(`detect ${title}`);
      return found;
    },
    describe: (_, what) => `${title} ${what}`,
    apply: (_, what) => void log.push(`apply ${title} ${what}`),
  });
  const silent: OperationStep = {
    title: "silent",
    silent: true,
    apply: () => void log.push("apply silent"),
  };
  const operation = (
    ...steps: readonly OperationStep<OperationFacts, string>[]
  ): Operation<OperationFacts, string> => ({
    guards: [() => void log.push("guard")],
    steps: [...steps, silent],
  });

  it("run after the guards; a step without findings is skipped, and a silent step is applied without a report", async () => {
    await runSteps(operation(step("one"), step("two", "x")), facts);
    assert.deepEqual(log, [
      "guard",
      "detect one",
      "detect two",
      "begin two",
      "apply two x",
      "apply silent",
    ]);
  });

  it("are skipped with their guards if their condition is false", async () => {
    const steps = [
      ...makeStepsConditional(() => false, [step("one", "x")]),
      ...makeStepsConditional(() => true, [step("two", "y")]),
    ];
    const guards = makeGuardsConditional(() => false, [() => assert.fail("refused")]);
    const { steps: all } = operation(...steps);
    await runSteps({ guards, steps: all }, facts);
    await describeSteps(all, facts);
    assert.deepEqual(log, ["detect two", "begin two", "apply two y", "apply silent", "detect two"]);
  });

  it("do not run after a guard that refuses", async () => {
    const refusing = { ...operation(step("one", "x")), guards: [() => assert.fail("refused")] };
    await assert.rejects(runSteps(refusing, facts), /refused/);
    assert.deepEqual(log, []);
  });

  it("are described but not applied in a plan; those without changes are omitted", async () => {
    const described = await describeSteps([step("one"), step("two", "x"), silent], facts);
    assert.deepEqual(described, ["two x"]);
    assert.deepEqual(log, ["detect one", "detect two"]);
  });

  it("stop at the first refused description, before the next step's detection", async () => {
    const refuse = (description: string): void => {
      if (description === "one x") throw new Error("refused");
    };
    const all = [step("one", "x"), step("two", "y")];
    await assert.rejects(describeSteps(all, facts, refuse), /refused/);
    assert.deepEqual(log, ["detect one"]);
  });

  it("fail instead of applying a change that the caller refuses", async () => {
    const refuse = (description: string): void => assert.fail(description);
    await assert.rejects(runSteps(operation(step("one", "x")), facts, refuse), /one x/);
    assert.deepEqual(log, ["guard", "detect one"]);
  });

  it("read the state that an earlier step wrote", async () => {
    const state = { version: 3, deployment: {} };
    const writes: OperationStep = { title: "write", apply: (all) => void (all.state = state) };
    let seen: OperationFacts["state"];
    const reads: OperationStep = { title: "read", apply: (all) => void (seen = all.state) };
    await runSteps({ guards: [], steps: [writes, reads] }, facts);
    assert.equal(seen, state);
  });
});
