import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { FailureCode } from "../../../../base/failures/failure-codes.js";
import type { Failure } from "../../../../base/failures/failure.js";
import type { DecodedEngineEvent } from "../../../../automation/pulumi/events.js";
import type { WorkerRunOptions } from "../../../../automation/engine/run-engine.js";
import type { OperationRequest } from "../../../../automation/engine/worker-messages.js";
import { startFakeCloud, type FakeCloud } from "../../../support/cloud/fake-openstack.js";
import {
  commandType,
  diagnostic,
  Engine,
  type EngineRun,
  instanceType,
  networkType,
  printed,
  stepEvent,
  urnOf,
} from "../../../support/engine/fake-engine.js";
import { installed } from "../../../support/commands/installed-package.js";

const { failures, runOperation } = installed();

describe("an operation in its own process", function () {
  this.timeout(60_000);
  let engine: Engine;
  let events: DecodedEngineEvent[];
  beforeEach(() => {
    engine = new Engine();
    events = [];
    mkdirSync(join(engine.directory, "work"));
    writeFileSync(join(engine.directory, "work", "Pulumi.yaml"), "name: it\nruntime: nodejs\n");
    program("module.exports = async () => ({});");
  });
  afterEach(() => {
    engine.remove();
  });
  const program = (text: string): void => {
    writeFileSync(join(engine.directory, "index.js"), text);
  };
  const start = (
    operation: OperationRequest["operation"],
    options: Partial<WorkerRunOptions> = {},
    request: Partial<OperationRequest> = {},
  ) =>
    runOperation(
      {
        type: "start",
        operation,
        stack: "dev",
        project: "it",
        workDirectory: join(engine.directory, "work"),
        program: join(engine.directory, "index.js"),
        ...request,
      },
      {
        env: { ...engine.environment(), HOME: engine.directory, CANARY: "passed on" },
        cwd: engine.directory,
        onEvent: (event) => {
          events.push(event);
        },
        ...options,
      },
    );
  const fails = async (work: Promise<unknown>, code: FailureCode): Promise<Failure> => {
    const error = await work.then(
      () => assert.fail("ended well"),
      (failed: unknown) => failed,
    );
    assert.ok(error instanceof failures.Failure, String(error));
    assert.equal(error.code, code, error.message);
    return error;
  };

  it("reports events in order", async () => {
    const net = { type: networkType, name: "net" };
    engine.runs({
      up: { events: [stepEvent("resourcePreEvent", net), stepEvent("resOutputsEvent", net)] },
    });
    await start("up");
    assert.deepEqual(
      events.map(({ type }) => type),
      ["started", "finished"],
    );
  });

  it("runs in the given directory with the given environment", async () => {
    program(
      `console.log(process.cwd() + " " + process.env.CANARY); module.exports = async () => ({});`,
    );
    const lines: string[] = [];
    await start("up", { onOutput: (line) => lines.push(line) });
    assert.ok(lines.includes(`${engine.directory} passed on`), lines.join("\n"));
  });

  for (const [kind, text] of [
    ["a default export of a compiled module", "exports.default = async () => ({});"],
    ["the module itself", "module.exports = function program() {};"],
  ] as const)
    it(`accepts a program that is ${kind}`, async () => {
      program(text);
      await start("preview");
      assert.deepEqual(engine.operations(), ["preview"]);
    });

  it("fails if the module exports no program, before it starts the engine", async () => {
    program("module.exports = { name: 'no program' };");
    const { message } = await fails(start("up"), "FAILED");
    assert.match(message, /index\.js does not export a program function$/);
    assert.deepEqual(engine.calls(), []);
  });

  it("passes only the requested options to the engine", async () => {
    engine.state({});
    await start("up", {}, { refresh: true, expectNoChanges: true, parallel: 3 });
    await start("destroy");
    const [up = "", destroy = ""] = engine.calls().filter((call) => /^(up|destroy) /.test(call));
    for (const flag of ["--yes", "--refresh", "--expect-no-changes", "--parallel 3"])
      assert.ok(up.includes(flag), flag);
    for (const flag of ["--refresh", "--run-program", "--parallel"])
      assert.ok(!destroy.includes(flag), flag);
  });

  it("deletes the stack after a destroy, and never creates a stack to destroy it", async () => {
    engine.state({});
    await start("destroy");
    assert.equal(engine.stateNow(), undefined);
    await fails(start("destroy"), "STACK_NOT_FOUND");
    assert.equal(engine.stateNow(), undefined);
  });

  const explained: [string, string, FailureCode][] = [
    ["a locked stack", "error: the stack is currently locked by 1 lock(s)", "STACK_LOCKED"],
    [
      "a conflicting update in the Pulumi service",
      "error: [409] Conflict: Another update is currently in progress.",
      "STACK_LOCKED",
    ],
    ["a wrong passphrase", "error: incorrect passphrase", "WRONG_PASSPHRASE"],
    ["another error, with its message", "error: the disk is full", "FAILED"],
  ];
  for (const [what, stderr, code] of explained)
    it(`fails with a specific error: ${what}`, async () => {
      engine.runs({ up: { stderr: `${stderr}\n`, code: 255 } });
      const { message } = await fails(start("up"), code);
      assert.doesNotMatch(message, /\n|stdout:/);
      if (code === "FAILED") assert.match(message, /the disk is full/);
    });

  it("fails with the root cause, and ignores subsequent errors", async () => {
    const urn = urnOf(instanceType, "vm");
    engine.runs({
      up: {
        events: [
          diagnostic("timed out waiting for the condition", "error", urnOf(networkType, "late")),
          diagnostic("Quota exceeded for instances: 10 of 10", "error", urn),
          diagnostic("update failed"),
        ],
        code: 255,
      },
    });
    const { subject, message } = await fails(start("up"), "QUOTA_EXCEEDED");
    assert.deepEqual(subject, { urn, resource: "vm" });
    assert.match(message, /^Instance 'vm': /);
  });

  it("reports that the engine was killed, with its last output", async () => {
    engine.runs({ up: { stderr: "fatal error: out of memory\nfree 0\n", then: "die" } });
    const { message, hint } = await fails(start("up"), "ENGINE_KILLED");
    assert.match(message, /^The engine ended without a result/);
    assert.match(hint, /same command again/);
  });

  it("reports that its own process was killed, with the last output", async () => {
    program(`console.error("FATAL ERROR: heap limit"); process.kill(process.pid, "SIGKILL");`);
    const { message } = await fails(start("up"), "ENGINE_KILLED");
    assert.equal(message, "The engine ended without a result: FATAL ERROR: heap limit.");
  });

  describe("of a program that does not end", () => {
    const boom = "Unhandled exception: Error: boom";
    const isWaiting = (): void => {
      engine.state({});
      engine.runs({ up: { events: [diagnostic(boom)], then: "wait" } });
    };

    it("fails with the error of the program if the engine waits after it", async () => {
      isWaiting();
      const { message } = await fails(start("up", { afterError: { idle: 100 } }), "FAILED");
      assert.match(message, /Error: boom/);
    });

    it("fails with the error of the program if the caller then stops the operation", async () => {
      isWaiting();
      const cancel = new AbortController();
      const onEvent = (): void => {
        cancel.abort();
      };
      const { message } = await fails(start("up", { onEvent, signal: cancel.signal }), "FAILED");
      assert.match(message, /Error: boom/);
    });

    it("ends although the program keeps a timer", async () => {
      program("setInterval(() => undefined, 1000); module.exports = async () => ({});");
      const began = Date.now();
      await start("up");
      assert.ok(Date.now() - began < 40_000);
    });

    it("ignores a message that the program sends to its parent process", async () => {
      program(`process.send("ready"); module.exports = async () => ({});`);
      await start("up");
      assert.deepEqual(engine.operations(), ["up"]);
    });
  });

  it("removes its listeners from the signals of the caller", async () => {
    const { signal } = new AbortController();
    await start("up", { signal });
    assert.deepEqual(getEventListeners(signal, "abort"), []);
  });

  describe("with a script on a machine that stops responding", () => {
    const urn = urnOf(commandType, "dev-general-0-prepare");
    const id = "0b1c2d3e-0000-4000-8000-000000000001";
    /**
     * Limits in the proportions of the real ones, within a few seconds. `longest` is more than two
     * checks, even late ones.
     */
    const silence = { silence: 100, again: 200, longest: 4_500, others: 60_000, gap: 2_000 };
    let cloud: FakeCloud;
    beforeEach(async () => {
      cloud = await startFakeCloud();
      engine.state({});
      const run = (op: string): EngineRun => ({
        events: [
          stepEvent("resourcePreEvent", { type: commandType, name: "dev-general-0-prepare", op }),
          printed(`alive ${id} prepare 5 s`, urn),
          diagnostic("Quota exceeded for instances: 10 of 10"),
        ],
        then: "hang",
      });
      engine.runs({ up: run("create"), destroy: run("delete") });
    });
    afterEach(async () => {
      await cloud.close();
    });
    const silent = (
      status: string,
      options: Partial<WorkerRunOptions> = {},
      operation: OperationRequest["operation"] = "up",
    ) => {
      const server = { id, name: "dev-general-0", status };
      cloud.on(`GET /compute/servers/${id}`, { body: { server } });
      const env = { ...engine.environment(), ...cloud.environment(), HOME: engine.directory };
      return start(operation, { env, silence, ...options });
    };

    it("fails with the machine's name and status, despite earlier errors of the engine", async () => {
      const { message, subject, exitCode } = await fails(silent("SHUTOFF"), "SERVER_STOPPED");
      assert.equal(
        message,
        "The machine dev-general-0 stopped while its script 'prepare' ran: Nova says SHUTOFF.",
      );
      assert.deepEqual([subject.resource, exitCode], ["dev-general-0-prepare", 1]);
      const pid = readFileSync(join(engine.directory, "pid"), "utf8");
      assert.ok(!existsSync(`/proc/${pid}`));
      assert.deepEqual(
        events.map(({ type }) => type),
        ["started", "alive", "message"],
      );
    });

    it("fails with the machine's status during a destroy", async () => {
      await fails(silent("PAUSED", {}, "destroy"), "SERVER_STOPPED");
    });

    it("fails with the machine's status after a stop request", async () => {
      const cancel = new AbortController();
      const onEvent = (event: DecodedEngineEvent): void => {
        if (event.type === "alive") cancel.abort();
      };
      await fails(silent("SHUTOFF", { onEvent, signal: cancel.signal }), "SERVER_STOPPED");
    });

    it("fails after a long silence if Nova reports ACTIVE", async () => {
      await fails(silent("ACTIVE"), "SERVER_SILENT");
      const questions = cloud.seen.filter(({ path }) => path.startsWith("/compute/servers/"));
      assert.ok(questions.length > 0);
    });
  });

  describe("that the caller stops", () => {
    const waiting = () => {
      engine.state({});
      engine.runs({
        up: {
          events: [stepEvent("resourcePreEvent", { type: networkType, name: "net" })],
          then: "wait",
        },
      });
      const [cancel, kill] = [new AbortController(), new AbortController()];
      let begun = (): void => undefined;
      const running = new Promise<void>((done) => (begun = done));
      const work = start("up", {
        signal: cancel.signal,
        killSignal: kill.signal,
        onEvent: () => {
          begun();
        },
      });
      work.catch(() => undefined);
      return { cancel, kill, work, running };
    };

    it("lets the engine finish its running steps, and then fails with CANCELLED", async () => {
      const { cancel, work, running } = waiting();
      await running;
      cancel.abort();
      const { exitCode, message } = await fails(work, "CANCELLED");
      assert.equal(exitCode, 130);
      assert.match(message, /What was done is kept/);
    });

    it("kills the engine on a kill signal, and leaves no engine process behind", async () => {
      const { cancel, kill, work, running } = waiting();
      await running;
      cancel.abort();
      kill.abort();
      await fails(work, "CANCELLED");
      const pid = readFileSync(join(engine.directory, "pid"), "utf8");
      assert.ok(!existsSync(`/proc/${pid}`));
    });

    it("never starts if the signal is already aborted", async () => {
      const work = start("up", { signal: AbortSignal.abort() });
      await fails(work, "CANCELLED");
      assert.deepEqual(engine.operations(), []);
    });
  });
});
