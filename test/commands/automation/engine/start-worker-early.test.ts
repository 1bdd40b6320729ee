import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { OperationRequest } from "../../../../automation/engine/worker-messages.js";
import { Engine } from "../../../support/engine/fake-engine.js";
import { appears } from "../../../support/await-file.js";
import { installed } from "../../../support/commands/installed-package.js";
import { until } from "../../../engine/support/until.js";

const { startWorkerEarly, prepareWorker, runOperation } = installed();

describe("a worker process that starts before its operation is known", function () {
  this.timeout(60_000);
  let engine: Engine;
  beforeEach(() => {
    engine = new Engine();
    mkdirSync(join(engine.directory, "work"));
    writeFileSync(join(engine.directory, "work", "Pulumi.yaml"), "name: it\nruntime: nodejs\n");
  });
  afterEach(() => {
    engine.remove();
  });
  const program = (text: string): string => {
    const file = join(engine.directory, "index.js");
    writeFileSync(file, text);
    return file;
  };
  const noting = (): string =>
    program(`
      const { appendFileSync } = require("node:fs");
      appendFileSync(${JSON.stringify(join(engine.directory, "loaded"))}, process.pid + "\\n");
      module.exports = async () => ({});
    `);
  const request = (file: string): OperationRequest => ({
    type: "start",
    operation: "up",
    stack: "dev",
    project: "it",
    program: file,
    workDirectory: join(engine.directory, "work"),
  });
  /** Returns the process IDs of workers that this process has started. */
  const workers = (): number[] => {
    const words = ["--ppid", String(process.pid), "-o", "pid=,args="];
    const lines = execFileSync("ps", words, { encoding: "utf8" }).split("\n");
    return lines.filter((line) => /engine\/worker\.js/.test(line)).map((line) => parseInt(line));
  };
  const options = () => ({
    env: { ...engine.environment(), HOME: engine.directory },
    cwd: engine.directory,
    onEvent: () => undefined,
  });

  it("loads the program once, before the operation starts", async () => {
    const file = noting();
    const child = prepareWorker({ program: file }, options());
    await appears(join(engine.directory, "loaded"));
    assert.deepEqual(engine.operations(), []);
    await runOperation(request(file), options(), child);
    const loaded = readFileSync(join(engine.directory, "loaded"), "utf8");
    assert.equal(loaded, `${String(child.pid)}\n`);
    assert.ok(engine.calls().some((call) => call.startsWith("up ")));
  });

  it("exits if no operation follows", async () => {
    const child = prepareWorker({ program: noting() }, options());
    await appears(join(engine.directory, "loaded"));
    const ended = once(child, "exit");
    child.disconnect();
    assert.deepEqual(await ended, [0, null]);
    assert.deepEqual(engine.operations(), []);
  });

  it("exits if its parent is killed while its program prints and keeps handles open", async () => {
    const file = program(`
      require("node:fs").writeFileSync(${JSON.stringify(join(engine.directory, "loaded"))}, "");
      setInterval(() => console.error("still here"), 5);
      module.exports = async () => ({});
    `);
    engine.runs({ up: { events: [], then: "wait" } });
    const child = prepareWorker({ program: file }, options());
    await appears(join(engine.directory, "loaded"));
    const ended = once(child, "exit");
    child.send(request(file));
    await until("the engine runs", () => engine.operations().includes("up"), 15);
    // What the death of the parent does to the worker: no reader, no channel.
    child.stdout?.destroy();
    child.stderr?.destroy();
    child.disconnect();
    assert.deepEqual((await ended).slice(0, 1), [0]);
  });

  it("switches to the operation's environment and directory before it loads the program", async () => {
    const said = join(engine.directory, "said");
    const file = program(`
      const { STRANGER, HOME } = process.env;
      require("node:fs").writeFileSync(${JSON.stringify(said)}, JSON.stringify([process.pid, process.cwd(), HOME, STRANGER]));
      module.exports = async () => ({});
    `);
    process.env["STRANGER"] = "of the process that began it";
    const endUnused = startWorkerEarly();
    Reflect.deleteProperty(process.env, "STRANGER");
    const begun = workers();
    const child = prepareWorker({ program: file }, options());
    endUnused();
    assert.deepEqual(begun, [child.pid]);
    await runOperation(request(file), options(), child);
    const { directory } = engine;
    assert.deepEqual(JSON.parse(readFileSync(said, "utf8")), [
      child.pid,
      directory,
      directory,
      null,
    ]);
  });

  it("exits if it is unused, and a later operation starts its own worker", async () => {
    const endings = [startWorkerEarly(), startWorkerEarly()];
    assert.notDeepEqual(workers(), []);
    for (const endUnused of endings) endUnused();
    await until("both ended", () => workers().length === 0, 15);
    await runOperation(request(noting()), options());
    assert.deepEqual(engine.operations(), ["up"]);
  });

  it("queries the engine's version once, before the operation is known", async () => {
    const versions = () => engine.calls().filter((call) => call.startsWith("version")).length;
    const child = prepareWorker({ program: noting() }, options());
    await until("the version was asked for", () => versions() === 1, 15);
    await runOperation(request(noting()), options(), child);
    assert.equal(versions(), 1);
  });

  it("needs no program for operations that only need the state", async () => {
    const file = program("throw new Error('no such thing');");
    engine.state({});
    for (const operation of ["refresh", "destroy"] as const) {
      const child = prepareWorker({}, options());
      await runOperation({ ...request(file), operation }, options(), child);
    }
    assert.deepEqual(engine.operations(), ["refresh", "destroy"]);
  });

  it("creates a stack that does not exist", async () => {
    await runOperation(request(noting()), options());
    const stacks = engine.calls().filter((call) => call.startsWith("stack "));
    assert.deepEqual(
      stacks.map((call) => call.split(" ")[1]),
      ["select", "init"],
    );
  });

  it("reports the program's load error when the operation starts", async () => {
    const file = program("throw new Error('no such thing');");
    const child = prepareWorker({ program: file }, options());
    await assert.rejects(runOperation(request(file), options(), child), /no such thing/);
    assert.deepEqual(engine.operations(), []);
  });
});
